/** What the process ends with. */
export const exitCodes = {
  ok: 0,
  failed: 1,
  usage: 2,
  notFound: 3,
  checkFailed: 4,
  conflict: 5,
  waiting: 6,
  unreachable: 7,
  interrupted: 130,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** By name, so that no module is loaded just to recognise its errors. */
const codeByName: Readonly<Record<string, ExitCode>> = {
  UsageError: exitCodes.usage,
  ConfigError: exitCodes.usage,
  AgentFileError: exitCodes.usage,
  AgentStoreError: exitCodes.usage,
  AssemblyError: exitCodes.usage,
  FieldConflictError: exitCodes.usage,
  EventConflictError: exitCodes.usage,
  UnknownStoreUrlError: exitCodes.usage,
  StoreUrlError: exitCodes.usage,
  UnknownModelError: exitCodes.usage,
  MissingProviderError: exitCodes.usage,
  MissingDriverError: exitCodes.usage,
  MissingEventStoreClientError: exitCodes.usage,
  MissingS3ClientError: exitCodes.usage,
  MissingKeyError: exitCodes.usage,
  PositionSyntaxError: exitCodes.usage,
  AmbiguousThreadError: exitCodes.usage,
  InvalidPathError: exitCodes.usage,
  NothingToFuzzError: exitCodes.usage,
  NoEventsError: exitCodes.usage,
  UndefinedEventError: exitCodes.usage,
  UnknownLawError: exitCodes.usage,
  InvalidNameError: exitCodes.usage,
  RedactionRuleError: exitCodes.usage,
  SigningKeyError: exitCodes.usage,
  SignedHeadFormatError: exitCodes.usage,
  InvalidPositionError: exitCodes.usage,
  NothingToRedactError: exitCodes.notFound,
  UnknownThreadError: exitCodes.notFound,
  UnknownRunError: exitCodes.notFound,
  UnknownQueuedRunError: exitCodes.notFound,
  VersionOutOfRangeError: exitCodes.notFound,
  UnknownInterruptError: exitCodes.notFound,
  FileNotFoundError: exitCodes.notFound,
  ReplaySourceError: exitCodes.notFound,
  UnknownCallError: exitCodes.notFound,
  UnknownMessageError: exitCodes.notFound,
  NothingToCompareError: exitCodes.notFound,
  NewerSchemaError: exitCodes.checkFailed,
  BrokenExportError: exitCodes.checkFailed,
  DamagedExportError: exitCodes.checkFailed,
  DamagedArchiveError: exitCodes.checkFailed,
  BrokenSourceError: exitCodes.checkFailed,
  DamagedEventError: exitCodes.checkFailed,
  PoisonEventError: exitCodes.checkFailed,
  VersionConflict: exitCodes.conflict,
  ReadOnlyStoreError: exitCodes.conflict,
  InheritedMessageError: exitCodes.conflict,
  ThreadHasChildrenError: exitCodes.conflict,
  ThreadNotEncryptedError: exitCodes.conflict,
  FileExistsError: exitCodes.conflict,
  ContentErasedError: exitCodes.conflict,
  KeyDestroyedError: exitCodes.conflict,
  KeyMissingError: exitCodes.conflict,
  KeysElsewhereError: exitCodes.conflict,
  ProjectionConflict: exitCodes.conflict,
  ThreadBusyError: exitCodes.conflict,
  ThreadDiffersError: exitCodes.conflict,
  CopyDiffersError: exitCodes.conflict,
  StreamDeletedError: exitCodes.conflict,
  InterruptAnsweredError: exitCodes.conflict,
  RunLostError: exitCodes.conflict,
};

/** Exit code of an error that ended a command. */
export function exitCodeFor(error: unknown): ExitCode {
  // Also data of an error that was recorded with a run.
  const { name = "" } = (typeof error === "object" && error !== null ? error : {}) as { name?: string };
  if (Object.hasOwn(codeByName, name)) return codeByName[name] ?? exitCodes.failed;
  return isUnreachable(error) ? exitCodes.unreachable : exitCodes.failed;
}

const networkError =
  /ECONNREFUSED|ECONNRESET|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EHOSTUNREACH|UND_ERR_CONNECT|fetch failed|connection error|socket hang up|APIConnection|server (?:cannot be reached|does not answer)/i;

/** True for an error that says that a server could not be reached. Data of a recorded error is fine, too. */
export function isUnreachable(error: unknown): boolean {
  if (typeof error !== "object" || error === null) return false;
  const { name, message, code, cause } = error as { [key: string]: unknown };
  const told = [name, message, code].filter((text) => typeof text === "string").join(" ");
  return networkError.test(told) || (cause !== undefined && cause !== error && isUnreachable(cause));
}
