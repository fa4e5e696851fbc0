package e2e

import (
	"net/http"
	"testing"

	"github.com/dyncontroller/dyncontroller/test/virtual"
)

// virtually runs a test in virtual time, with -real alongside.
func virtually(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	virtual.Test(t, alongside, commonCRDs(t), test)
}

// virtuallyAlone is virtually for tests of moments: on a real control plane, nothing runs beside them.
func virtuallyAlone(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	virtual.Test(t, func(t *testing.T) { planes.Lend(t) }, commonCRDs(t), test)
}

// runVirtually is a subtest that runs virtually.
func runVirtually(t *testing.T, name string, test func(t *testing.T)) {
	t.Helper()
	t.Run(name, func(t *testing.T) { virtually(t, test) })
}

// commonCRDs are those that all tests have.
var commonCRDs = virtual.CRDs(customResources)

// transport is that of the test's cluster, nil for the network.
func transport(t *testing.T) http.RoundTripper {
	t.Helper()
	return virtual.Transport(cluster(t))
}
