# The controller's image: Node, and the program with the code of its packages that it reaches in one
# bundle: a thirtieth of the program beside its packages, and half of its CPU time until its first request.

FROM node:24-trixie-slim AS build
WORKDIR /app
# tools/dev-node is a development dependency by path: npm reads its package.json and installs nothing of it.
COPY package.json package-lock.json LICENSE ./
COPY tools/dev-node/package.json tools/dev-node/
COPY packages/kube/package.json packages/kube/
COPY packages/sandbox/package.json packages/sandbox/
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY tools/bundle.ts tools/
COPY tools/bundle tools/bundle
COPY manifests/example manifests/example
COPY packages packages
COPY src src
RUN npm run bundle -- layer maps

# What V8 makes of the program until it has written its first copies, by the Node and the flags that start it further
# down: a third of the CPU time until its first request, and 3 to 8 % of its first fan-out's.
FROM gcr.io/distroless/nodejs24-debian13:nonroot AS compiled
WORKDIR /app
COPY --from=build /app/layer ./
COPY --from=build /app/tools/bundle/compile.cjs /compile/
USER 0:0
RUN ["/nodejs/bin/node", "--max-semi-space-size=8", "--heap-growing-percent=40", "--liftoff-only", "--invocation-count-for-maglev=1500", "--random-seed=1", "/compile/compile.cjs", "dist"]

# Node and the libraries it needs: no npm, no shell, no package manager.
FROM gcr.io/distroless/nodejs24-debian13:nonroot
LABEL org.opencontainers.image.title="secretcast" \
      org.opencontainers.image.description="Write a Secret once, have it in every Kubernetes namespace that should have it" \
      org.opencontainers.image.licenses="Apache-2.0"
WORKDIR /app
# glibc would give each of Node's threads an arena of its own: 26 MiB of pieces after two hours, and more by the
# hour. One is enough for a process whose work is done by one thread (docs/measurements/reliability.md).
ENV NODE_ENV=production MALLOC_ARENA_MAX=1
COPY --from=compiled /app ./
# A number, so that the kubelet can check runAsNonRoot.
USER 65532:65532
EXPOSE 8080
# V8's young generation would take 48 MiB and more while the first list comes in: with 100,000 foreign
# Secrets of 2 KB the process takes 68 MiB above an idle one in place of 184 (npm run bench -- memory).
# And V8 would let what was read pile up to several times of what is kept before it collects: a list of
# 1,000 Secrets of 250 KB, of which next to nothing is kept, was killed at 384 MiB; collected at 1.4
# times it takes 219 (npm run bench -- bounds).
# And V8 would optimise undici's parser of HTTP, which is WebAssembly. Its compiler takes 50 ms of CPU during the first
# fan-out, or leaves 15 MiB behind in an idle controller, and seven fan-outs to 500 namespaces cost as much without it.
# And V8 would optimise a function after 400 calls, which is in the middle of the first fan-out that users wait for.
# After 1,500 it does so in the second to the sixth (npm run bench -- cold).
ENTRYPOINT ["/nodejs/bin/node", "--max-semi-space-size=8", "--heap-growing-percent=40", "--liftoff-only", "--invocation-count-for-maglev=1500", "/app/dist/start.cjs"]
CMD ["run"]
