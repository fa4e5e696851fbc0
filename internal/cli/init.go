//go:build !operator

package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/internal/config"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/printable"
	"github.com/dyncontroller/dyncontroller/pkg/rules/scaffold"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema/crd"
	"github.com/dyncontroller/dyncontroller/pkg/simulate"
)

// starting is a run of the command init.
type starting struct {
	evaluation
	cluster   *config.Cluster
	directory string
}

func newInit(p Process) *cobra.Command {
	s := &starting{evaluation: evaluation{Process: p}}
	command := &cobra.Command{
		Use:   "init DIRECTORY (RESOURCE/NAME | --object FILE | [RESOURCE] --crds PATH)",
		Short: "Write a first rule with its test",
		Long: `Write a rule set that works, an object, a test, and its golden into a directory, to
begin with: for an object of a cluster, or the first one of a resource, for one in a
file, or for a resource that a CustomResourceDefinition defines. The CRD is written too, so that fields and types
are checked. Values of a Secret are replaced. Files that exist are not touched.

Exit code: 0; 1 if the test does not pass; 2 for wrong usage, or if a file exists that
is different; 3 if the cluster cannot be asked.`,
		Example: `  dyncontroller init rules/ deployments/web --namespace shop
  dyncontroller init rules/ deployments
  dyncontroller init rules/ --object pod.yaml
  dyncontroller init rules/ httproutes --crds crds/`,
		Args: func(_ *cobra.Command, args []string) error {
			switch {
			case len(args) == 0:
				return errors.New("init needs a DIRECTORY to write to, as in: dyncontroller init rules/ deployments/web")
			case len(args) == 3:
				return fmt.Errorf("init takes a DIRECTORY and RESOURCE/NAME, as in: dyncontroller init %s %s/%s", args[0], args[1], args[2])
			case len(args) > 3:
				return errors.New("init takes a DIRECTORY and RESOURCE/NAME, as in: dyncontroller init rules/ deployments/web")
			}
			return nil
		},
		RunE: func(command *cobra.Command, args []string) error {
			s.directory = args[0]
			return s.run(command.Context(), args[1:])
		},
		ValidArgsFunction: func(command *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
			switch len(args) {
			case 0:
				return nil, cobra.ShellCompDirectiveFilterDirs
			case 1:
				return p.completeObject(command, word)
			default:
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
		},
	}
	flags := command.Flags()
	flags.StringVar(&s.object, "object", "", "`FILE` with an object, as YAML or JSON; - for standard input")
	s.crds = addCRDsFlag(flags)
	s.cluster = addClusterFlags(flags, clusterAsRun, contextOfKubeconfig, "the namespace `NAME` of the object")
	return command
}

func (s *starting) run(ctx context.Context, args []string) error {
	s.silence()
	input, err := s.input(ctx, args)
	if err != nil {
		return err
	}
	files, err := scaffold.Files(input)
	if err != nil {
		return failure{exitUsage, err}
	}
	if err := s.begin(ctx, s.directory, files, input.Resource.Resource+"_test.yaml"); err != nil {
		return err
	}
	return put(s.Stdout, "what comes next", printable.Sprintf(`
Change %s, and see what it does:
  dyncontroller test %[2]s --update
  dyncontroller diff --rules %[2]s
`, filepath.Join(s.directory, input.Resource.Resource+".yaml"), s.directory))
}

// begin writes files, none of which may be there with another content, and the golden of the test among them.
// The test reads rules that the user has named.
func (e *evaluation) begin(ctx context.Context, directory string, files map[string][]byte, test string) error {
	test = filepath.Join(directory, test)
	disk, err := newDisk(append([]string{test}, e.rules...)...)
	if err != nil {
		return internal(err)
	}
	paths := slices.Sorted(maps.Keys(files))
	for _, path := range paths {
		path, content := filepath.Join(directory, path), files[path]
		if have, err := os.ReadFile(path); !errors.Is(err, fs.ErrNotExist) && !bytes.Equal(have, content) {
			return failure{exitUsage, fmt.Errorf("%s exists already, and is different; choose another directory, or remove it", path)}
		}
	}
	for _, path := range paths {
		path, content := filepath.Join(directory, path), files[path]
		if err := disk.trees[0].WriteFile(path, content); err != nil {
			return failure{exitUsage, fmt.Errorf("writing %s: %w", path, err)}
		}
		io.WriteString(e.Stdout, printable.Sprintf("wrote %s\n", path))
	}
	report, err := simulate.Run(ctx, []string{test}, simulate.Options{Files: disk, Update: true})
	if err != nil {
		return internal(err)
	}
	if err := put(e.Stdout, "the report", report.Text(false)); err != nil || report.Passed() {
		return err
	}
	return errFinding
}

// input is what the user has pointed at.
func (s *starting) input(ctx context.Context, args []string) (out scaffold.Input, err error) {
	if len(args) == 1 && s.object != "" {
		return out, fmt.Errorf("%s and --object are two ways to say which object; choose one", args[0])
	}
	if len(args) == 1 && (len(*s.crds) == 0 || strings.Contains(args[0], "/")) {
		return s.live(ctx, args[0])
	}
	definitions, err := s.readCRDs(*s.crds, []string{s.object})
	if err != nil {
		return out, err
	}
	if s.object != "" {
		objects, err := s.readObjects(s.object)
		if err != nil {
			return out, err
		}
		if len(objects) > 1 {
			return out, fmt.Errorf("%s has %d objects; init takes one", s.object, len(objects))
		}
		return scaffold.ForObject(objects[0], definitions), nil
	}
	if len(definitions) == 0 {
		return out, errors.New("init needs RESOURCE/NAME of an object in the cluster, --object FILE, or --crds PATH")
	}
	var all []string
	var named []*crd.Definition
	for _, d := range definitions {
		all = append(all, d.Plural+"."+d.Group)
		if len(args) == 0 || means(args[0], apischema.GroupVersionResource{Group: d.Group, Resource: d.Plural}, append([]string{d.Kind}, d.Other...)...) {
			named = append(named, d)
		}
	}
	if len(named) != 1 {
		return out, fmt.Errorf("--crds defines %s; choose one, as in: dyncontroller init rules/ %s --crds PATH", strings.Join(all, ", "), all[0])
	}
	return scaffold.ForCRD(named[0]), nil
}

// live reads an object of the cluster, the first one if only its resource is given, and its CRD if it has one that may be read.
func (s *starting) live(ctx context.Context, written string) (out scaffold.Input, err error) {
	target, err := s.reached(ctx, *s.cluster)
	if err != nil {
		return out, err
	}
	unnamed := !strings.Contains(written, "/")
	if unnamed {
		written += "/any"
	}
	at, err := target.locate(ctx, written, nil)
	if err != nil {
		return out, err
	}
	read := at.get
	if unnamed {
		read = at.first
	}
	object, err := read(ctx)
	if err != nil {
		return out, err
	}
	at.object.Name, at.object.Namespace = plan.Text(object, "metadata", "name"), plan.Text(object, "metadata", "namespace")
	return scaffold.ForObject(object, at.definitions(ctx)), nil
}

// definitions is the CRD of the object, if it has one that may be read.
func (s *subject) definitions(ctx context.Context) []*crd.Definition {
	crds := apischema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
	found, err := s.reader.Get(ctx, crds, "", s.object.GVR.GroupResource().String())
	data, errData := json.Marshal(found)
	if found == nil || err != nil || errData != nil {
		return nil
	}
	out, _ := crd.Read("", data) // The API server has taken it.
	return out
}
