package controlplane

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestModuleDir(t *testing.T) {
	dir, err := ModuleDir(t.Context(), TidbOperator)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "manifests", "crd", "v1", "pingcap.com_tidbclusters.yaml")); err != nil {
		t.Error(err)
	}
}

func TestPinnedModuleDir(t *testing.T) {
	want, err := ModuleDir(t.Context(), TidbOperator)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := PinnedModuleDir(t.Context(), TidbOperator, sums()[TidbOperator]); err != nil || got != want {
		t.Errorf("with the sum of the caller: %q, %v, want %q", got, err, want)
	}
	_, err = PinnedModuleDir(t.Context(), TidbOperator, "h1:another")
	if err == nil || !strings.Contains(err.Error(), "tidb-operator@v1.6.5") || !strings.Contains(err.Error(), "not h1:another") {
		t.Errorf("a module with another sum: %v, want an error that names both", err)
	}
}

func TestModuleDirErrors(t *testing.T) {
	if _, err := ModuleDir(t.Context(), "github.com/pingcap/tidb-operator@v1.6.4"); err == nil ||
		!strings.Contains(err.Error(), "no sum pinned") {
		t.Errorf("a module that is not pinned was taken: %v", err)
	}
	if _, err := download(t.Context(), TidbOperator, "h1:another"); err == nil || !strings.Contains(err.Error(), "its sum is h1:XvLd") {
		t.Errorf("a module with another sum was taken: %v", err)
	}
	t.Setenv("GOPROXY", "off")
	if _, err := download(t.Context(), "github.com/pingcap/tidb-operator@v0.0.1", "h1:any"); err == nil ||
		!strings.Contains(err.Error(), "tidb-operator@v0.0.1") {
		t.Errorf("a module that cannot be had: %v, want its name", err)
	}
	t.Setenv("PATH", "")
	if _, err := download(t.Context(), TidbOperator, "h1:any"); err == nil || !strings.Contains(err.Error(), "executable file not found") {
		t.Errorf("without a go command: %v", err)
	}
}
