# The gate alone in an image: one static binary, no shell, no root. `scripts/check-static` proves the same without a container.
# Mount a config at /data/config.toml, or say `run --upstream http://shop:3000`. Who maps the admin listener to the outside
# sets `admin_listen` and `admin_token`; the health check then wants ROPELINE_HEALTHCHECK.
FROM rust:1.95.0-bookworm AS build
# --build-arg BUILD=build-pgo takes twenty minutes on two cores, and makes a binary that takes an eighth less of them.
ARG BUILD=build-static
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
ENTRYPOINT ["/ropeline"]
CMD ["run"]
