# The gate alone in an image: one static binary, no shell, no root. A release's image holds and says the same, for two processors
# (scripts/image); `scripts/check-static` and `scripts/check-image` prove it without a container engine.
# Mount a config at /data/config.toml, or say `run --upstream http://shop:3000`. Who maps the admin listener to the outside
# sets `admin_listen` and `admin_token`; the health check then wants ROPELINE_HEALTHCHECK.
FROM rust:1.95.0-bookworm AS build
# --build-arg BUILD=build-pgo records a profile and builds by it, as a release does. It takes twenty minutes on two cores, and
# makes a binary that takes an eighth less of them.
ARG BUILD=build-static
# What `ropeline --version` says; the context has no .git: --build-arg ROPELINE_COMMIT=$(git rev-parse HEAD)
# --build-arg SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
ARG ROPELINE_COMMIT
ARG SOURCE_DATE_EPOCH
WORKDIR /source
COPY . .
RUN scripts/$BUILD /image && mkdir /image/data

FROM scratch
COPY --from=build /image/ropeline /ropeline
# The embedded store and the gate's own key; mount a volume here to keep them.
COPY --from=build --chown=65532:65532 /image/data /data
USER 65532:65532
WORKDIR /data
VOLUME /data
# On loopback the gate could be reached from inside the container alone. A config that names its listeners still holds.
ENV ROPELINE_LISTEN=0.0.0.0:8080
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=5s CMD ["/ropeline", "healthcheck"]
LABEL org.opencontainers.image.title="Ropeline" \
    org.opencontainers.image.description="A waiting room in front of your shop" \
    org.opencontainers.image.licenses="MIT OR Apache-2.0"
ENTRYPOINT ["/ropeline"]
CMD ["run"]
