//go:build !race

package tenants

// raceDetector says that the tests run without the race detector.
const raceDetector = false
