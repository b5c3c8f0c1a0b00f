# The gate alone in an image: one static binary, no shell, no root. `scripts/check-static` proves the same without a container.
FROM rust:1.95-bookworm AS build
WORKDIR /source
COPY . .
RUN scripts/build-static /image && mkdir /image/data

FROM scratch
COPY --from=build /image/anteroom /anteroom
# The embedded store and the gate's own key; mount a volume here to keep them.
COPY --from=build --chown=65532:65532 /image/data /data
USER 65532:65532
WORKDIR /data
VOLUME /data
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=5s CMD ["/anteroom", "healthcheck"]
ENTRYPOINT ["/anteroom"]
CMD ["run"]
