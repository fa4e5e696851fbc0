// Package telemetry lets others watch the process: [Metrics] for Prometheus,
// [Health] for probes, and the [Server] that both are served by, by TLS with [Certificates].
//
// It implements the small interfaces that the packages below declare, and is
// told what happens; it decides nothing. Our own metrics have no global registry; those of
// the Kubernetes client have one, since it counts for the whole process.
package telemetry
