// The proxy from the environment for a server, as in Go's net/http/httpproxy and thus in kubectl. It is
// HTTPS_PROXY or HTTP_PROXY by the server's scheme, unless NO_PROXY matches, each in lower case too. A loopback
// server is never reached through a proxy. proxy-url of a kubeconfig takes precedence.
import { BlockList, isIP } from "node:net";

type Env = Readonly<Record<string, string | undefined>>;

/** Undefined means a direct connection. An invalid URL is returned as it is, and the connection reports it. */
export function environmentProxy(server: string, env: Env): string | undefined {
  const { protocol, hostname, port } = new URL(server);
  const isSecure = protocol === "https:";
  const proxy = variable(env, isSecure ? "HTTPS_PROXY" : "HTTP_PROXY");
  if (proxy === undefined) return undefined;
  const host = hostname.replace(/^\[|\]$/g, "").toLowerCase();
  if (isLoopback(host)) return undefined;
  const excluded = variable(env, "NO_PROXY") ?? "";
  const usual = isSecure ? "443" : "80";
  if (excluded.split(",").some((rule) => matches(rule, host, port || usual))) return undefined;
  // The proxy resolves names in both cases.
  return hasScheme(proxy) ? proxy.replace(/^socks5h:/i, "socks5:") : `http://${proxy}`;
}

function variable(env: Env, name: string): string | undefined {
  return env[name] || env[name.toLowerCase()] || undefined;
}

function hasScheme(proxy: string): boolean {
  return /^[a-z][-+.a-z0-9]*:\/\/[^/]/i.test(proxy);
}

function isLoopback(host: string): boolean {
  if (host === "localhost") return true;
  return isIP(host) !== 0 && contains(["127.0.0.0/8", "::1/128"], host);
}

/** One entry of NO_PROXY. */
function matches(rule: string, host: string, port: string): boolean {
  const text = rule.trim().toLowerCase();
  if (text === "*") return true;
  if (isSubnet(text)) return isIP(host) !== 0 && contains([text], host);
  const [name, only] = hostAndPort(text);
  if (name === "" || (only !== undefined && only !== port)) return false;
  if (isIP(name) !== 0) return isIP(host) !== 0 && contains([`${name}/${bits(name)}`], host);
  const domain = name.startsWith("*.") ? name.slice(1) : name;
  return domain.startsWith(".")
    ? host.endsWith(domain)
    : host === domain || host.endsWith(`.${domain}`);
}

// "[::1]:443", "example.com:443", "::1", "example.com".
function hostAndPort(text: string): readonly [string, string?] {
  const [, bracketed, port] = /^\[([^\]]*)\](?::(.*))?$/.exec(text) ?? [];
  if (bracketed !== undefined) return port === undefined ? [bracketed] : [bracketed, port];
  const parts = text.split(":");
  const [name = "", only] = parts;
  return parts.length === 2 && only !== undefined ? [name, only] : [text];
}

function isSubnet(text: string): boolean {
  const [, address = "", prefix = ""] = /^(.+)\/(\d{1,3})$/.exec(text) ?? [];
  return isIP(address) !== 0 && Number(prefix) <= bits(address);
}

function bits(address: string): number {
  return isIP(address) === 6 ? 128 : 32;
}

function contains(subnets: readonly string[], host: string): boolean {
  const list = new BlockList();
  for (const subnet of subnets) {
    const [address = "", prefix = ""] = subnet.split("/");
    list.addSubnet(address, Number(prefix), familyOf(address));
  }
  return list.check(host, familyOf(host));
}

function familyOf(address: string): "ipv4" | "ipv6" {
  return isIP(address) === 6 ? "ipv6" : "ipv4";
}
