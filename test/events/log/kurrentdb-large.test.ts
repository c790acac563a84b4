import * as kurrent from "@kurrent/kurrentdb-client";
import { describeLargeOnDouble } from "./kurrentdb-large.ts";

describeLargeOnDouble(kurrent);
