package controlplane

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// binaryVariable names the environment variable that says where bin/cluster is, for programs that run elsewhere than
// in the repository.
const binaryVariable = "DYNCONTROLLER_CLUSTER"

// Binary is the path of bin/cluster: $DYNCONTROLLER_CLUSTER or, in the module that the working directory belongs to,
// bin/cluster.
func Binary() (string, error) {
	path := os.Getenv(binaryVariable)
	if path == "" {
		root, err := moduleRoot()
		if err != nil {
			return "", fmt.Errorf("looking for bin/cluster: %w; or set %s to its path", err, binaryVariable)
		}
		path = filepath.Join(root, "bin", "cluster")
	}
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("the control plane is not built: %w; run \"make cluster\"", err)
	}
	return filepath.Abs(path)
}

// moduleRoot is the directory of the go.mod at or above the working directory.
func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("the working directory is not in a Go module")
		}
		dir = parent
	}
}
