package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// audit is the API server's own record of who has patched TidbClusters and when, in files of a folder. A watch would
// tell times less well: two changes may arrive together.
type audit struct{ dir string }

const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: Metadata
  verbs: [patch]
  resources: [{group: pingcap.com, resources: [tidbclusters]}]
- level: None
`

func (a audit) policy() string { return filepath.Join(a.dir, "audit-policy.yaml") }
func (a audit) log() string    { return filepath.Join(a.dir, "audit.log") }

// arguments are those of kube-apiserver.
func (a audit) arguments() ([]string, error) {
	if err := os.WriteFile(a.policy(), []byte(auditPolicy), 0o600); err != nil {
		return nil, err
	}
	return []string{"--audit-policy-file=" + a.policy(), "--audit-log-path=" + a.log()}, nil
}

// patch is a request that was answered.
type patch struct {
	Client    string    `json:"userAgent"`
	Received  time.Time `json:"requestReceivedTimestamp"`
	Answered  time.Time `json:"stageTimestamp"`
	ObjectRef struct {
		Name string `json:"name"`
	} `json:"objectRef"`
	ResponseStatus struct {
		Code int `json:"code"`
	} `json:"responseStatus"`
}

func (p patch) isOurs() bool { return strings.HasPrefix(p.Client, "dyncontroller/") }

func (a audit) patches() ([]patch, error) {
	data, err := os.ReadFile(a.log())
	if err != nil {
		return nil, fmt.Errorf("reading the audit log: %w", err)
	}
	return parsePatches(data)
}

// parsePatches leaves out a last line that is still being written.
func parsePatches(data []byte) ([]patch, error) {
	var out []patch
	data = data[:bytes.LastIndexByte(data, '\n')+1]
	for line := range bytes.Lines(data) {
		var p patch
		if err := json.Unmarshal(line, &p); err != nil {
			return nil, fmt.Errorf("reading the audit log: %w", err)
		}
		out = append(out, p)
	}
	return out, nil
}

// repairTime is how long it took from when the last patch of somebody else was received until one of ours was stored
// and answered.
func repairTime(patches []patch, name string) (took time.Duration, repaired bool) {
	var broken time.Time
	for _, p := range patches {
		switch {
		case p.ObjectRef.Name != name || p.ResponseStatus.Code != 200:
		case !p.isOurs():
			broken, repaired = p.Received, false
		case !broken.IsZero() && !repaired:
			took, repaired = p.Answered.Sub(broken), true
		}
	}
	return took, repaired
}

// waitRepair returns the time of the repair that follows the last patch of somebody else.
func (a audit) waitRepair(ctx context.Context, name string) (took time.Duration, err error) {
	err = wait.PollUntilContextTimeout(ctx, pollInterval, patience, true, func(context.Context) (repaired bool, err error) {
		patches, err := a.patches()
		took, repaired = repairTime(patches, name)
		return repaired, err
	})
	if err != nil {
		return 0, fmt.Errorf("waiting for the repair of %q: %w", name, err)
	}
	return took, nil
}
