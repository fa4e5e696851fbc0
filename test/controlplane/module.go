package controlplane

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// TidbOperator is the module with the real TidbCluster CRD, in manifests/crd/v1.
const TidbOperator = "github.com/pingcap/tidb-operator@v1.6.5"

// sums are what the modules of this package must be, as go.sum says it.
func sums() map[string]string {
	return map[string]string{
		TidbOperator: "h1:XvLdD+0fUoL5cgYfTIrnZNGk2b/2jICd1pORF4X6MUQ=",
	}
}

// ModuleDir is the folder of a Go module of this package, MODULE@VERSION, which is downloaded if need be.
func ModuleDir(ctx context.Context, module string) (string, error) {
	sum, ok := sums()[module]
	if !ok {
		return "", fmt.Errorf("module %q has no sum pinned", module)
	}
	return PinnedModuleDir(ctx, module, sum)
}

// PinnedModuleDir is the folder of any Go module, MODULE@VERSION, whose sum the caller pins as go.sum writes it. Another
// content is refused.
func PinnedModuleDir(ctx context.Context, module, sum string) (string, error) {
	dir, err := download(ctx, module, sum)
	if err != nil {
		return "", fmt.Errorf("downloading module %q: %w", module, err)
	}
	return dir, nil
}

// download asks the go command from outside of any module, so that no go.mod has a say, and without the checksum
// database, since the pinned sum says more and needs no network.
func download(ctx context.Context, module, sum string) (string, error) {
	path, _, _ := strings.Cut(module, "@")
	cmd := exec.CommandContext(ctx, "go", "mod", "download", "-json", module)
	cmd.Dir = os.TempDir()
	cmd.Env = append(os.Environ(), "GOWORK=off", "GONOSUMDB="+path)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	failed := cmd.Run()
	var answer struct{ Dir, Sum, Error string }
	if err := json.Unmarshal(stdout.Bytes(), &answer); err != nil {
		return "", errors.Join(failed, fmt.Errorf("the answer of go mod download: %w\n%s", err, stderr.String()))
	}
	switch {
	case answer.Error != "":
		return "", errors.New(answer.Error)
	case failed != nil:
		return "", fmt.Errorf("go mod download: %w\n%s", failed, stderr.String())
	case answer.Sum != sum:
		return "", fmt.Errorf("its sum is %s, not %s", answer.Sum, sum)
	}
	return answer.Dir, nil
}
