package main

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// committed is where `make generate` writes to.
const committed = "../../../pkg/rules/schema/builtin/data"

// TestCommitted compares what is committed with what this Kubernetes says. Compressed bytes may differ between versions
// of Go.
func TestCommitted(t *testing.T) {
	t.Parallel()
	folder, err := kubernetes(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want, err := generate(folder)
	if err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(committed)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		name := strings.TrimSuffix(entry.Name(), ".gz")
		if !bytes.Equal(want[name], unpacked(t, filepath.Join(committed, entry.Name()))) {
			t.Errorf("%s is not what Kubernetes says: run `make generate`", entry.Name())
		}
		delete(want, name)
	}
	for name := range want {
		t.Errorf("%s is missing: run `make generate`", name)
	}
}

func TestWrite(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "data")
	for _, files := range []map[string][]byte{{"old.json": []byte("{}")}, {"v1.json": []byte("{}"), indexFile: []byte("[]")}} {
		if err := write(folder, files); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{"v1.json.gz": "{}", indexFile: "[]"} {
		if got := unpacked(t, filepath.Join(folder, name)); string(got) != want {
			t.Errorf("%s holds %s, want %s", name, got, want)
		}
	}
	if _, err := os.Stat(filepath.Join(folder, "old.json.gz")); err == nil {
		t.Error("a file of the last time is still there")
	}
}

func TestArguments(t *testing.T) {
	t.Parallel()
	if err := run(t.Context(), nil); err == nil {
		t.Error("no folder to write to is no error")
	}
}

func unpacked(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if filepath.Ext(name) != ".gz" {
		return data
	}
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	if data, err = io.ReadAll(r); err != nil {
		t.Fatal(err)
	}
	return data
}
