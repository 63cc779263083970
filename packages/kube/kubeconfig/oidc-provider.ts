// The OIDC auth provider as kubectl has it: the id-token until ten seconds before it expires, then a new one by
// the refresh token. New tokens are written back into the kubeconfig, because a provider can make the previous
// refresh token invalid. No token and no answer of the provider is part of an error.
import { readFileSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { randomUUID } from "node:crypto";
import * as http from "node:http";
import * as https from "node:https";
import { dump } from "js-yaml";
import { isRecord, parseJson } from "../json.ts";
import {
  CredentialsError,
  errorCodeOf,
  type CredentialSource,
  type Proof,
} from "./credential-source.ts";
import { loadAsKubectl } from "./kubectl-yaml.ts";
import type { User } from "./kubeconfig-file.ts";

type Settings = Readonly<Record<string, string>>;

const LIMIT_MS = 60_000;
const REQUEST_MS = 20_000;
/** client-go, plugin/pkg/client/auth/oidc: expiryDelta. */
const EARLY_MS = 10_000;
/** A provider's documents are a few KiB. */
const MOST_BYTES = 1_048_576;

export type OidcOptions = {
  /** Wall clock, ms. */
  readonly now: () => number;
};

export function oidcProvider(user: User, { now }: OidcOptions): CredentialSource {
  const title = `auth provider "oidc" of user "${user.name}"`;
  let settings = settingsOf(user.authProvider?.["config"]);
  let refused: string | undefined;
  let refreshing: Promise<string> | undefined;
  const fail = (why: string): CredentialsError => new CredentialsError(`${title}: ${why}`);

  const refresh = async (): Promise<string> => {
    const given = settings["refresh-token"];
    if (!given) throw fail("no valid id-token, and cannot refresh without refresh-token");
    const answer = await requestToken(settings, given, fail);
    const fresh = answer["id_token"];
    if (typeof fresh !== "string" || fresh === "")
      throw fail("the provider's answer contains no id_token; was the scope openid requested?");
    const next = answer["refresh_token"];
    const changes = {
      "id-token": fresh,
      ...(typeof next === "string" && next !== "" && { "refresh-token": next }),
    };
    settings = { ...settings, ...changes };
    writeBack(user, changes);
    return fresh;
  };

  return {
    title,
    limitMs: LIMIT_MS,
    prove: async (): Promise<Proof> => {
      const kept = settings["id-token"];
      const valid = kept && kept !== refused && expiryOf(kept, fail) - EARLY_MS > now();
      const token = valid
        ? kept
        : await (refreshing ??= refresh().finally(() => (refreshing = undefined)));
      const headers = { Authorization: `Bearer ${token}` };
      return { headers, expiresAt: expiryOf(token, fail) - EARLY_MS };
    },
    forget: () => (refused = settings["id-token"]),
  };
}

function settingsOf(config: unknown): Settings {
  if (!isRecord(config)) return {};
  const texts = Object.entries(config).filter(([, value]) => typeof value === "string");
  return Object.fromEntries(texts) as Settings;
}

type Fail = (why: string) => CredentialsError;

/** The time in the claim `exp`, in ms. */
function expiryOf(token: string, fail: Fail): number {
  const [, text = ""] = token.split(".");
  const claims = parseJson(Buffer.from(text, "base64url").toString());
  if (isRecord(claims) && typeof claims["exp"] === "number") return claims["exp"] * 1000;
  throw fail("its id-token is not a JSON Web Token with an expiry");
}

async function requestToken(
  settings: Settings,
  refreshToken: string,
  fail: Fail,
): Promise<Readonly<Record<string, unknown>>> {
  const {
    "idp-issuer-url": issuer = "",
    "client-id": id = "",
    "client-secret": secret = "",
  } = settings;
  if (issuer === "") throw fail("idp-issuer-url is missing");
  if (id === "") throw fail("client-id is missing");
  const ca = caOf(settings, fail);
  const about = `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`;
  const { status, body } = await request("GET", about, { ca }, fail);
  const endpoint = isRecord(body) ? body["token_endpoint"] : undefined;
  if (status !== 200 || typeof endpoint !== "string")
    throw fail(`${about} answers ${status} and names no token_endpoint`);
  const form = { grant_type: "refresh_token", refresh_token: refreshToken };
  const basic = Buffer.from(`${formText(id)}:${formText(secret)}`);
  // As golang.org/x/oauth2: the client's secret in the header, and if that is refused in the form.
  const authorization = `Basic ${basic.toString("base64")}`;
  const first = await request("POST", endpoint, { ca, form, authorization }, fail);
  const named = { ...form, client_id: id, ...(secret !== "" && { client_secret: secret }) };
  const answer =
    first.status === 200 ? first : await request("POST", endpoint, { ca, form: named }, fail);
  if (answer.status === 200 && isRecord(answer.body)) return answer.body;
  throw fail(`the provider refuses the refresh token (${answer.status}): log in again`);
}

/** As a form escapes it: a space is "+". */
function formText(text: string): string {
  return new URLSearchParams({ t: text }).toString().slice("t=".length);
}

function caOf(settings: Settings, fail: Fail): Buffer | undefined {
  const { "idp-certificate-authority-data": data, "idp-certificate-authority": file } = settings;
  if (data) return Buffer.from(data, "base64");
  if (!file) return undefined;
  try {
    return readFileSync(file);
  } catch (error) {
    throw fail(`idp-certificate-authority "${file}" cannot be read (${errorCodeOf(error)})`);
  }
}

type Sent = {
  readonly ca: Buffer | undefined;
  readonly form?: Readonly<Record<string, string>>;
  readonly authorization?: string;
};
type Answer = { readonly status: number; readonly body: unknown };

async function request(
  method: string,
  url: string,
  { ca, form, authorization }: Sent,
  fail: Fail,
): Promise<Answer> {
  const signal = AbortSignal.timeout(REQUEST_MS);
  try {
    const options = {
      method,
      signal,
      ca,
      headers: {
        accept: "application/json",
        ...(form && { "content-type": "application/x-www-form-urlencoded" }),
        ...(authorization !== undefined && { authorization }),
      },
    };
    const sent =
      new URL(url).protocol === "http:" ? http.request(url, options) : https.request(url, options);
    sent.end(form && new URLSearchParams(form).toString());
    return await answerOf(sent);
  } catch (error) {
    const why = signal.aborted ? "no answer in time" : errorCodeOf(error);
    throw fail(`cannot reach ${URL.canParse(url) ? new URL(url).origin : "its issuer"} (${why})`);
  }
}

async function answerOf(sent: http.ClientRequest): Promise<Answer> {
  const response = await new Promise<http.IncomingMessage>((resolve, reject) => {
    sent.on("response", resolve);
    sent.on("error", reject);
  });
  let text = "";
  for await (const chunk of response.setEncoding("utf8")) {
    text += String(chunk);
    if (text.length > MOST_BYTES) throw new Error("the answer is too large");
  }
  return { status: response.statusCode ?? 0, body: parseJson(text) };
}

/** Writes the whole file with the same rights, as kubectl does. A file that cannot be written is left as it is. */
function writeBack({ file: link, name }: User, changes: Settings): void {
  if (link === undefined) return;
  // A new name: no file that exists, and no link to one, is overwritten.
  const next = `${link}.${randomUUID()}`;
  try {
    const file = realpathSync(link);
    const root = loadAsKubectl(readFileSync(file, "utf8"));
    const users = isRecord(root) && Array.isArray(root["users"]) ? root["users"] : [];
    const own = users.find((each: unknown) => isRecord(each) && each["name"] === name);
    const provider =
      isRecord(own) && isRecord(own["user"]) ? own["user"]["auth-provider"] : undefined;
    const config = isRecord(provider) ? provider["config"] : undefined;
    if (!isRecord(config)) return;
    Object.assign(config, changes);
    const { mode } = statSync(file);
    writeFileSync(next, dump(root), { mode: mode & 0o777, flag: "wx" });
    renameSync(next, file);
  } catch {
    // The kubeconfig is mounted read-only, for example. The tokens last as long as this process.
    rmSync(next, { force: true });
  }
}
