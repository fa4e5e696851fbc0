# The image of the operator: run, cleanup and version, without a shell, as nobody.
#
#   docker buildx build --platform linux/amd64,linux/arm64 --build-arg VERSION=v0.1.0 -t REPOSITORY:v0.1.0 --push .
#
# Without Docker, ko does the same by .ko.yaml.
ARG GO_VERSION=1.26
ARG BASE=gcr.io/distroless/static-debian12:nonroot

FROM --platform=$BUILDPLATFORM golang:${GO_VERSION} AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN --mount=type=cache,target=/go/pkg/mod go mod download
COPY cmd cmd
COPY internal internal
COPY pkg pkg
ARG TARGETOS TARGETARCH VERSION=dev
RUN --mount=type=cache,target=/go/pkg/mod --mount=type=cache,target=/root/.cache/go-build \
    CGO_ENABLED=0 GOOS=${TARGETOS} GOARCH=${TARGETARCH} \
    go build -trimpath -tags operator -ldflags "-s -w -X main.version=${VERSION}" -o /dyncontroller ./cmd/dyncontroller

FROM ${BASE}
COPY --from=build /dyncontroller /dyncontroller
USER 65532:65532
ENTRYPOINT ["/dyncontroller"]
