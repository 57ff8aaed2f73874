# Two images: `docker build --target cpu .` and `docker build --target cuda .`
ARG DEBIAN=12-slim
ARG CUDA=13.0.1

# Each build stage is the two steps that ./dev does on any machine; the packages are a layer of their own.
FROM debian:${DEBIAN} AS build-cpu
WORKDIR /src
COPY dev ./
COPY deploy/packages.txt deploy/
RUN ./dev install
COPY . .
RUN ./dev build cvae-server cvae && deploy/stage-image.sh /image

FROM nvidia/cuda:${CUDA}-devel-ubuntu24.04 AS build-cuda
WORKDIR /src
COPY dev ./
COPY deploy/packages.txt deploy/
RUN ./dev install
COPY . .
RUN ./dev build cvae-server cvae && deploy/stage-image.sh /image

FROM debian:${DEBIAN} AS cpu
SHELL ["/bin/bash", "-o", "pipefail", "-c"]
# The versions are the distribution's, those that the programs were built with.
# hadolint ignore=DL3008
RUN --mount=from=build-cpu,source=/image,target=/image \
    apt-get update \
    && xargs apt-get install -y --no-install-recommends < /image/packages.txt \
    && rm -rf /var/lib/apt/lists/*
COPY --from=build-cpu /image/root /
USER 10001:10001
EXPOSE 8001
ENTRYPOINT ["cvae-server", "--listen=0.0.0.0:8001"]
CMD ["--model=/models/digits/digits.safetensors"]

FROM nvidia/cuda:${CUDA}-base-ubuntu24.04 AS cuda
SHELL ["/bin/bash", "-o", "pipefail", "-c"]
# hadolint ignore=DL3008
RUN --mount=from=build-cuda,source=/image,target=/image \
    apt-get update \
    && xargs apt-get install -y --no-install-recommends < /image/packages.txt \
    && rm -rf /var/lib/apt/lists/*
COPY --from=build-cuda /image/root /
USER 10001:10001
EXPOSE 8001
ENTRYPOINT ["cvae-server", "--listen=0.0.0.0:8001"]
CMD ["--model=/models/digits/digits.safetensors"]
