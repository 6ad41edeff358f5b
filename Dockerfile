FROM node:24.22.3-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
COPY prisma prisma
# No package may run a script. `npm run build` generates the Prisma client.
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY build.cjs ./
COPY src src
RUN npm run build
# Removes packages that only the build needs, such as SWC and Prisma's CLI, and optional peer dependencies that are not used,
# such as the TypeScript compiler. With these packages the image would be twice as large.
RUN npm uninstall prisma --omit=dev --omit=optional --omit=peer --ignore-scripts --no-audit --no-fund

FROM node:24.22.3-bookworm-slim
ENV NODE_ENV=production HOST=0.0.0.0 PORT=4000
WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/prisma prisma
COPY --from=build /app/dist dist
COPY --from=build /app/src/portal/pages src/portal/pages
COPY --from=build /app/src/portal/public src/portal/public
COPY --from=build /app/src/portal/vendor src/portal/vendor
# The gateway serves the guides at /docs.
COPY docs docs
COPY CHANGELOG.md CONTRIBUTING.md SECURITY.md ./
COPY bench/README.md bench/
# The data directory of the embedded database, which is used without DATABASE_URL. Mount a volume to keep the data.
RUN mkdir data && chown node:node data
USER node
EXPOSE 4000
STOPSIGNAL SIGTERM
# Docker checks whether the process is alive. Load balancers check /readyz instead.
HEALTHCHECK --interval=5s --timeout=3s --start-period=30s CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/livez`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# Runs node directly. `npm start` would first compile, but the image has no compiler, and npm would get the signals first.
CMD ["node", "dist/main.js"]
