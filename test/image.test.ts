// The Dockerfile built as it stands, on stand-ins for its base images, and its program run in what
// comes out. Where buildah, debootstrap or root are missing it says so and is skipped; the base is laid
// out once into the cache.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { givenRelease } from "./support/programs/release-folder.ts";
import { whyNoImage } from "../tools/image/buildah.ts";
import { buildImage } from "../tools/image.ts";
import { folderOf } from "../packages/kube/testing/folder.ts";

const why = whyNoImage();

test("the image runs the demo without root", why === undefined ? {} : { skip: why }, (t) => {
  const folder = folderOf(t);
  const commit = spawnSync("git", ["log", "-1", "--format=%ct"], { encoding: "utf8" });
  const seconds = Number(commit.stdout);
  const { name, digest, buildah } = buildImage(folder, join(folder, "image.tar"), seconds);
  assert.match(digest, /^sha256:[0-9a-f]{64}$/);
  const release = givenRelease();
  if (release !== undefined) {
    // The release was made of the same commit, elsewhere and before.
    const [yaml = ""] = globSync("secretcast-*.yaml", { cwd: release });
    const named = readFileSync(join(release, yaml), "utf8");
    assert.ok(named.includes(`image: secretcast@${digest}\n`), digest);
  }
  const { OCIv1 }: Inspected = JSON.parse(buildah("inspect", "--type", "image", name));
  const { Entrypoint, Cmd, User } = OCIv1.config;
  assert.deepEqual([Cmd, User], [["run"], "65532:65532"]);
  const container = buildah("from", "--pull-never", name);
  const run = (...words: readonly string[]) =>
    buildah("run", "--isolation=chroot", container, "--", ...Entrypoint, ...words);
  assert.match(run("sandbox", "--once"), /^team-c +registry /m);
  const ids = `process.getuid() + " " + require("node:fs").existsSync("/bin/sh")`;
  const node = Entrypoint[0] ?? "";
  const own = buildah("run", "--isolation=chroot", container, "--", node, "--print", ids);
  assert.equal(own, "65532 false");
});

type Inspected = {
  readonly OCIv1: {
    readonly config: {
      readonly Entrypoint: readonly string[];
      readonly Cmd: readonly string[];
      readonly User: string;
    };
  };
};
