package differential

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dyncontroller/dyncontroller/pkg/simulate"
	"github.com/dyncontroller/dyncontroller/test/controlplane"
	"github.com/dyncontroller/dyncontroller/test/steps"
)

// TestExamples holds that the engine comes to the same on the simulated cluster as on a
// real one, for every case of every example. Both begin with what the real one has
// stored, anew after each step, and with an engine that remembers nothing: what a rule
// has waited for is not waited for here.
func TestExamples(t *testing.T) {
	files, err := filepath.Glob("../../examples/rules/*/*_test.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no examples: %v", err)
	}
	s := &stages{defined: map[string]string{}}
	t.Cleanup(func() { s.stop(t) })
	var sum tally
	for _, file := range files {
		tests, errs := simulate.Load(file, steps.Disk{})
		if err := errs.Err(); err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		for _, test := range tests {
			stage, err := s.of(t.Context(), t.TempDir(), test)
			if err != nil {
				t.Errorf("%s: %v", file, err)
				continue
			}
			for _, c := range test.Cases {
				t.Run(test.Name+"/"+c.Name, func(t *testing.T) { stage.play(t, test, c, &sum) })
			}
		}
	}
	t.Logf("%+v", sum)
}

// tally counts what was compared, and what was not.
type tally struct {
	Cases, Phases, Writes, Objects, Events int
	// Left are cases with a step that could not be done, since a rule had not waited long
	// enough before it, and Refused those whose objects no real cluster takes.
	Left, Refused int
}

// stages are real control planes: as few as can have the definitions of all tests.
type stages struct {
	current *controlplane.ControlPlane
	defined map[string]string // the definitions that it has, by their names
}

func (s *stages) stop(t *testing.T) {
	t.Helper()
	if s.current == nil {
		return
	}
	if err := s.current.Stop(); err != nil {
		t.Error(err)
	}
}

// of returns a stage with the definitions of a test. A definition that another test has
// otherwise needs another control plane: changing it would take a while to be seen.
func (s *stages) of(ctx context.Context, folder string, test *simulate.Test) (*stage, error) {
	definitions := test.Definitions()
	missing := map[string]string{}
	fresh := s.current == nil
	for _, d := range definitions {
		data, err := json.Marshal(withoutWebhooks(d.Document))
		if err != nil {
			return nil, fmt.Errorf("encoding a definition: %w", err)
		}
		name := d.Plural + "." + d.Group
		missing[name] = string(data)
		fresh = fresh || s.defined[name] != "" && s.defined[name] != string(data)
	}
	if fresh {
		if err := s.renew(ctx); err != nil {
			return nil, err
		}
	}
	var files []string
	for name, data := range missing {
		if s.defined[name] != "" {
			continue
		}
		at := filepath.Join(folder, strings.ReplaceAll(name, "/", "_")+".yaml")
		if err := os.WriteFile(at, []byte(data), 0o600); err != nil {
			return nil, fmt.Errorf("writing a definition: %w", err)
		}
		files = append(files, at)
		s.defined[name] = data
	}
	if err := s.current.InstallCRDs(ctx, files...); err != nil {
		return nil, err
	}
	return newStage(s.current, definitions)
}

// renew begins with a control plane that has no definitions.
func (s *stages) renew(ctx context.Context) error {
	if s.current != nil {
		if err := s.current.Stop(); err != nil {
			return err
		}
	}
	var err error
	s.defined = map[string]string{}
	s.current, err = controlplane.Start(ctx, options())
	return err
}
