//go:build race

package tenants

// raceDetector says that the tests run with the race detector.
const raceDetector = true
