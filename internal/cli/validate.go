//go:build !operator

package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/dyncontroller/dyncontroller/internal/config"
	"github.com/dyncontroller/dyncontroller/internal/findings"
	"github.com/dyncontroller/dyncontroller/internal/source"
	"github.com/dyncontroller/dyncontroller/pkg/printable"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema/builtin"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema/crd"
	"github.com/dyncontroller/dyncontroller/pkg/simulate/apiserver"
)

// offlineNamespace is that of a RuleSet that names none, where there is no
// kubeconfig to ask.
const offlineNamespace = "default"

// validation is what validate was asked for.
type validation struct {
	Process
	paths   []string
	params  *[]string
	crds    *[]string
	cluster *config.Cluster
	strict  bool
	output  *config.Value
}

func newValidate(p Process) *cobra.Command {
	v := &validation{Process: p}
	command := &cobra.Command{
		Use:   "validate PATH...",
		Short: "Check rules, and show each mistake where it is",
		Long: `Check rules, without a cluster unless one is named. Every mistake of every file
is shown with its place, what is wrong, and what to write instead; of a file
that is not YAML, the first. A PATH is a file, a directory (its *.yaml, *.yml
and *.json, not those of its folders) or - for the standard input. Tests among
the rules are ignored: the command test runs them.

Expressions and what is written are checked against the schemas of the objects:
those of Kubernetes itself are known, those of custom resources are in the CRDs
that --crds names, or in the cluster of --kubeconfig or --context.

A warning is about something that is allowed but probably a mistake. A note says
what could not be checked.

Exit code: 0 if the rules are right, 1 if there is a mistake or, with --strict,
a warning, 2 if a PATH cannot be read or holds nothing of its kind, 3 if the
cluster cannot be asked.`,
		Example: `  dyncontroller validate rules/
  dyncontroller validate rules/ --crds crds/ --strict
  dyncontroller validate rules/ --context staging
  dyncontroller validate a.yaml b.yaml -o json
  dyncontroller validate rules/ -o sarif > rules.sarif
  dyncontroller validate rules/ --param tidb-guardrails.minStores=5
  helm template my-rules | dyncontroller validate -`,
		Args: paths,
		RunE: func(command *cobra.Command, args []string) error {
			v.paths = args
			return v.run(command.Context())
		},
	}
	flags := command.Flags()
	v.addFlags(flags, "")
	flags.BoolVar(&v.strict, "strict", false, "let a warning count as a mistake")
	v.output = addOutputFlag(command, "how the findings are shown: text, json, sarif (2.1.0) or github (annotations of a workflow)", findings.Formats()...)
	return command
}

// ownNamespace is the usage of --namespace of commands that have it.
const ownNamespace = "the namespace `NAME` of a RuleSet that names none, otherwise that of the context, or default"

// addFlags adds what rbac and graph have as well: they do without a cluster, unless they are told to. Without a usage there is
// no --namespace.
func (v *validation) addFlags(flags *pflag.FlagSet, namespace string) {
	v.params = config.AddParamFlag(flags)
	v.crds = addCRDsFlag(flags)
	v.cluster = addClusterFlags(flags, "ask the cluster of this kubeconfig `FILE` for the schemas that --crds does not give",
		"ask the cluster of this context, by `NAME`, for the schemas that --crds does not give", namespace)
}

// addCRDsFlag adds --crds, which several commands have. Its values are for
// [Process.readCRDs].
func addCRDsFlag(flags *pflag.FlagSet) *[]string {
	return flags.StringArray("crds", nil, "`PATH` of CustomResourceDefinitions: a file, a directory with all its folders or - for standard input; may be repeated")
}

// readCRDs reads the values of --crds. taken are the paths that the command
// reads besides: there is one standard input.
func (p Process) readCRDs(paths, taken []string) ([]*crd.Definition, error) {
	all := slices.Concat(paths, taken)
	if first := slices.Index(paths, source.Stdin); first >= 0 && slices.Contains(all[first+1:], source.Stdin) {
		return nil, errors.New("standard input, -, can be read only once")
	}
	definitions, err := source.ReadCRDs(paths, p.Stdin, apiserver.Refused)
	if err != nil {
		return nil, failure{exitUsage, err}
	}
	return definitions, nil
}

// offline are the options of a command that has no cluster.
func offline(params []string) (rules.Options, error) {
	parsed, err := config.ParseParams(params)
	if err != nil {
		return rules.Options{}, fmt.Errorf("--param: %w", err)
	}
	return rules.Options{DefaultNamespace: offlineNamespace, Params: parsed}, nil
}

func (v *validation) run(ctx context.Context) error {
	files, err := v.files(ctx)
	if err != nil {
		return err
	}
	set, err := files.Load()
	failed := &source.Error{}
	if err != nil && !errors.As(err, &failed) {
		return internal(err)
	}
	report := &findings.Report{Found: failed.Mistakes, Loaded: set != nil, Strict: v.strict, Version: v.version(), Tests: files.Tests()}
	// Where there is no working directory, names of files stay as they are.
	if directory, err := filepath.Abs("."); err == nil {
		report.Directory = directory
	}
	if set != nil {
		for _, rule := range set.Rules() {
			report.Rules = append(report.Rules, rule.ID.String())
		}
		report.Found = append(report.Found, set.Warnings()...)
	}
	var text strings.Builder
	if err := report.Write(&text, v.output.Text); err != nil {
		return internal(err)
	}
	colors := findingColors
	if v.output.Text != formatText {
		colors = nil
	}
	out := v.Stdout
	if written, is := out.(*printable.Writer); is && v.output.Text == findings.GitHub {
		out = written.Commands()
	}
	if err := put(out, "the findings", v.painted(text.String(), colors)); err != nil {
		return err
	}
	switch {
	case len(failed.Unusable) > 0: // What was not shown is left to be reported.
		return &source.Error{Unusable: failed.Unusable}
	case !report.Valid():
		return errFinding
	default:
		return nil
	}
}

// findingColors are those of a hint, of the excerpt above it, of rules that are right, and of the rest.
var findingColors = []lineColor{{cyan, []string{"  hint: "}}, {"", []string{"  "}}, {green, []string{"valid"}}, {bold, []string{""}}}

// files are the rules, with what is known of the objects they are about.
func (v *validation) files(ctx context.Context) (*source.Files, error) {
	options, err := offline(*v.params)
	if err != nil {
		return nil, err
	}
	options.DefaultNamespace = cmp.Or(v.cluster.Namespace, options.DefaultNamespace)
	definitions, err := v.readCRDs(*v.crds, v.paths)
	if err != nil {
		return nil, err
	}
	given := crd.NewSource(definitions)
	if !named(v.cluster) {
		options.Schemas = schema.NewCatalog(given, builtin.Source())
		return source.New(v.paths, v.Stdin, options), nil
	}
	target, err := v.connect(*v.cluster)
	if err != nil {
		return nil, failure{exitUsage, err}
	}
	options.DefaultNamespace = target.namespace
	files := source.New(v.paths, v.Stdin, options)
	said, err := target.ask(ctx, files.Named())
	if err != nil {
		return nil, err
	}
	files.SetSchemas(schema.NewCatalog(given, said, builtin.Source()))
	return files, nil
}

// load compiles the rules, and gives up where there is a mistake.
func (v *validation) load(ctx context.Context) (*rules.Set, error) {
	files, err := v.files(ctx)
	if err != nil {
		return nil, err
	}
	return files.Load()
}

// paths wants at least one.
func paths(command *cobra.Command, args []string) error {
	if len(args) == 0 {
		return fmt.Errorf("%s needs a PATH: a file, a directory or -", command.Name())
	}
	return nil
}
