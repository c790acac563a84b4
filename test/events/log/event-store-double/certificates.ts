import { generate } from "selfsigned";

/** PEM texts of a server for 127.0.0.1 and localhost, and of the authority that signed its certificate. */
export interface Certificates {
  readonly authority: string;
  readonly certificate: string;
  readonly key: string;
}

export async function makeCertificates(): Promise<Certificates> {
  const keyType = "ec" as const;
  const algorithm = "sha256";
  const authority = await generate([{ name: "commonName", value: "Authority of tests" }], {
    keyType,
    algorithm,
    extensions: [
      { name: "basicConstraints", cA: true, critical: true },
      { name: "keyUsage", keyCertSign: true, cRLSign: true, critical: true },
    ],
  });
  const server = await generate([{ name: "commonName", value: "127.0.0.1" }], {
    keyType,
    algorithm,
    ca: { key: authority.private, cert: authority.cert },
    extensions: [
      { name: "basicConstraints", cA: false, critical: true },
      { name: "keyUsage", digitalSignature: true, critical: true },
      { name: "extKeyUsage", serverAuth: true },
      {
        name: "subjectAltName",
        altNames: [
          { type: 7, ip: "127.0.0.1" },
          { type: 2, value: "localhost" },
        ],
      },
    ],
  });
  return { authority: authority.cert, certificate: server.cert, key: server.private };
}
