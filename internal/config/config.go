package config

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"github.com/spf13/viper"

	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/field"
)

// Config is what `run` was asked to do. It is valid as a whole.
type Config struct {
	// Rules are paths, "-" for standard input. FromCluster has the sets of the
	// cluster run as well. There is at least one of both.
	Rules       []string
	FromCluster bool
	Params      []rules.Param
	// Sensitive lists what rules that name it may write: some of [rules.SensitiveKinds],
	// each once.
	Sensitive []string
	Cluster   Cluster
	Workers   int // at least 1
	// AccountCache bounds the bytes that the caches of one ServiceAccount may take; 0 for no limit.
	AccountCache int64
	// AccountCaches bounds how many caches the rules of one ServiceAccount may have; 0 for no limit.
	AccountCaches int
	// AccountRules bounds the bytes of the documents of the set objects of one ServiceAccount; 0 for no limit.
	AccountRules int64
	DryRun       DryRun
	Once         bool
	// CacheSyncTimeout is how long a run that ends waits for the first list of each resource.
	CacheSyncTimeout time.Duration
	// Instance names the inventory of what rules leave behind, and Prune has what
	// whole sets left cleaned up when they are gone. Force runs beside another process of the instance.
	Instance     string
	Prune, Force bool
	Election     Election
	Listen       Listen
	Log          Log
}

// Cluster says which API server to use, and how much of it.
type Cluster struct {
	Kubeconfig string // a path; empty for what kubectl would take
	Context    string // of the kubeconfig; empty for the current one
	Namespace  string // of a RuleSet without one; empty for the context's
	QPS        float32
	Burst      int
}

// Listen holds the addresses of the servers. An empty one is turned off.
type Listen struct {
	Metrics string
	Health  string
	// Secure has the metrics be served by TLS to who may get them, with the certificate in the
	// directory CertDir, or if that is empty one of our own.
	Secure  bool
	CertDir string
	// Profiling has profiles of the process be served beside the metrics.
	Profiling bool
}

// Log says what is logged, and how.
type Log struct {
	Verbosity int // 0 for what an operator wants, 1 for debugging, 4 and up for the Kubernetes client
	JSON      bool
}

// DryRun says who judges a write that is not to be stored.
type DryRun string

// The values of --dry-run.
const (
	DryRunNone   DryRun = "none"
	DryRunServer DryRun = "server"
	DryRunClient DryRun = "client"
)

// DefaultInstance is the instance of a process that is given none.
const DefaultInstance = "default"

// NoLimit is the QPS and the Burst of a client that is not held back.
const NoLimit = -1

// Election says whether one of several processes is chosen to run the rules, and
// how. Lease > Renew > 1.2 * Retry > 0, whether it is enabled or not.
type Election struct {
	Enabled bool
	// Lease is how long the others wait for a leader that does not renew the lease,
	// in whole seconds; Renew how long a leader goes on writing after its last
	// renewal, and Retry how long it waits between two.
	Lease, Renew, Retry time.Duration
	Name                string // of the Lease
	Namespace           string // of the Lease; empty for that of the process
}

// Load layers the flags, which must have been added by [AddFlags] and parsed,
// over env, as of os.Environ, and over the file that they name. It finds all
// mistakes of env and file; those of the file are [document.Errors].
func Load(flags *pflag.FlagSet, env []string) (Config, error) {
	fromEnv, err := readEnv(env)
	path, ok := fromEnv[configFlag].(string)
	if flag := flags.Lookup(configFlag); flag.Changed || !ok {
		path = flag.Value.String()
	}
	values, fileErr := readFile(path)
	if err := errors.Join(err, fileErr); err != nil {
		return Config{}, err
	}
	maps.Copy(values, fromEnv)
	v := viper.New()
	if err := v.MergeConfigMap(values); err != nil {
		return Config{}, fmt.Errorf("reading the configuration: %w", err)
	}
	if err := v.BindPFlags(flags); err != nil {
		return Config{}, fmt.Errorf("reading the flags: %w", err)
	}
	c := Config{Rules: v.GetStringSlice(rulesFlag)}
	for _, s := range settings(&c) {
		if err := s.set(v.GetString(s.name)); err != nil {
			return Config{}, fmt.Errorf("--%s: %w", s.name, err)
		}
	}
	if c.Params, err = ParseParams(v.GetStringSlice(paramFlag)); err != nil {
		return Config{}, fmt.Errorf("--%s: %w", paramFlag, err)
	}
	if err := c.check(); err != nil {
		return Config{}, err
	}
	// What users write, 0 for no limit, becomes what the client takes.
	switch {
	case c.Cluster.QPS == 0:
		c.Cluster.QPS, c.Cluster.Burst = NoLimit, NoLimit
	case c.Cluster.Burst == 0:
		c.Cluster.Burst = int(math.Ceil(float64(c.Cluster.QPS)))
	}
	return c, nil
}

// jitter is by how much client-go may lengthen the time between two attempts.
const jitter = 1.2

// check finds settings that do not go together. The election is checked even where nobody is elected: the mistake
// would show only once somebody turns that on.
func (c Config) check() error {
	switch e := c.Election; {
	case c.Cluster.QPS == 0 && c.Cluster.Burst > 0:
		return errors.New("--kube-api-burst limits nothing without --kube-api-qps")
	case len(c.Rules) == 0 && !c.FromCluster:
		return errors.New("there are no rules to run; name a file, a directory or - with --rules, or run those of the cluster with --rules-from-cluster")
	case len(c.Rules) == 0 && len(c.Params) > 0:
		return errors.New("--param replaces constants of sets in files, and there is no --rules; a set in the cluster is changed where it is")
	case e.Enabled && c.Once:
		return errors.New("--once settles what can settle now and waits for nobody, so it cannot wait for a lease; leave one of --once and --leader-elect out")
	case e.Enabled && c.DryRun != DryRunNone:
		return fmt.Errorf("--dry-run=%s changes nothing, so it cannot take a lease from those who do; leave one of --dry-run and --leader-elect out", c.DryRun)
	case e.Lease <= e.Renew:
		return fmt.Errorf("--leader-elect-lease-duration (%s) must be longer than --leader-elect-renew-deadline (%s): a leader has to stop before the next one starts", e.Lease, e.Renew)
	case float64(e.Renew) <= jitter*float64(e.Retry):
		return fmt.Errorf("--leader-elect-renew-deadline (%s) must be longer than 1.2 times --leader-elect-retry-period (%s): a renewal that fails has to be tried again", e.Renew, e.Retry)
	default:
		return c.Listen.check()
	}
}

func (l Listen) check() error {
	switch {
	case l.Metrics != "" && l.Metrics == l.Health && !strings.HasSuffix(l.Health, ":0"): // The system chooses port 0 anew each time.
		return fmt.Errorf("--metrics-bind-address and --health-probe-bind-address are both %q; give each its own, or turn one off with 0", l.Health)
	case l.Secure && l.Metrics == "":
		return errors.New("--metrics-secure protects what --metrics-bind-address=0 turns off; leave one of them out")
	case l.Profiling && l.Metrics == "":
		return errors.New("--profiling serves profiles where the metrics are, which --metrics-bind-address=0 turns off; leave one of them out")
	case l.CertDir != "" && !l.Secure:
		return errors.New("--metrics-cert-dir is for --metrics-secure, without which no certificate is used; give both or none")
	default:
		return nil
	}
}

// ParseParams reads the values of --param.
func ParseParams(texts []string) ([]rules.Param, error) {
	var out []rules.Param
	for _, text := range texts {
		param, err := rules.ParseParam(text)
		if err != nil {
			return nil, err
		}
		out = append(out, param)
	}
	return out, nil
}

// envPrefix begins the variables that are ours.
const envPrefix = "DYNCONTROLLER_"

// serviceLink matches the variables that Kubernetes gives to every container
// for a Service of our name. They are not ours.
var serviceLink = regexp.MustCompile(`_(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT(_\d+_(TCP|UDP|SCTP)(_\w+)?)?)$`)

// readEnv returns the settings of the environment by name. An empty variable
// counts as one that is not there.
func readEnv(env []string) (map[string]any, error) {
	checks := map[string]func(string) error{rulesFlag: nil, paramFlag: nil, configFlag: nil}
	for _, s := range settings(new(Config)) {
		checks[s.name] = s.set
	}
	out := map[string]any{}
	var errs []error
	for _, entry := range slices.Sorted(slices.Values(env)) {
		variable, text, _ := strings.Cut(entry, "=")
		if !strings.HasPrefix(variable, envPrefix) || text == "" {
			continue
		}
		name := strings.ReplaceAll(strings.ToLower(strings.TrimPrefix(variable, envPrefix)), "_", "-")
		var err error
		switch check := checks[name]; {
		case name == configFlag:
			out[name] = text
		case name == rulesFlag: // As in KUBECONFIG and PATH.
			out[name] = filepath.SplitList(text)
		case name == paramFlag: // A value may have any other separator in it.
			lines := strings.FieldsFunc(text, func(r rune) bool { return r == '\n' })
			_, err = ParseParams(lines)
			out[name] = lines
		case check != nil:
			err = check(text)
			out[name] = text
		case Unsupported(name):
			errs = append(errs, fmt.Errorf("%s is not supported yet", variable))
		case !serviceLink.MatchString(variable):
			advice := ""
			if near := document.Suggest(name, slices.Sorted(maps.Keys(checks))); near != "" {
				advice = "; did you mean " + envPrefix + strings.ToUpper(strings.ReplaceAll(near, "-", "_")) + "?"
			}
			errs = append(errs, fmt.Errorf("%s is not a setting%s", variable, advice))
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", variable, err))
		}
	}
	return out, errors.Join(errs...)
}

// maxFile is far above what settings need.
const maxFile = 1 << 20

// readFile returns the settings of the file by name; none where there is no path.
func readFile(path string) (map[string]any, error) {
	if path == "" {
		return map[string]any{}, nil
	}
	opened, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("reading --config: %w", err)
	}
	defer opened.Close()
	data, err := io.ReadAll(io.LimitReader(opened, maxFile))
	if err != nil {
		return nil, fmt.Errorf("reading --config: %w", err)
	}
	return parseFile(document.File{Name: path, Data: data})
}

// parseFile reads the settings of a file. Paths in it are relative to it.
func parseFile(from document.File) (map[string]any, error) {
	out := map[string]any{}
	resolve := func(path string) string {
		if path == "" || path == "-" || filepath.IsAbs(path) {
			return path
		}
		return filepath.Join(filepath.Dir(from.Name), path)
	}
	scalars := document.KindString | document.KindInt | document.KindFloat | document.KindBool
	isPath := map[string]bool{rulesFlag: true}
	known := field.Object("",
		field.Optional(rulesFlag, several(field.Text), ""),
		field.Optional(paramFlag, several(checked(document.KindString, func(text string) error { _, err := rules.ParseParam(text); return err })), ""),
	)
	for _, s := range settings(new(Config)) {
		known.Fields = append(known.Fields, field.Optional(s.name, checked(scalars, s.set), ""))
		isPath[s.name] = s.kind == file || s.kind == directory
	}
	known.Fields = append(known.Fields, field.Optional(shards, &field.Type{Check: func(n *document.Node) *document.Error {
		return n.Errorf("remove it", "field %q is not supported yet", shards).Coded(document.CodeNotSupported)
	}}, ""))
	roots, errs := document.Parse(from)
	for i, root := range roots {
		if i > 0 {
			errs = append(errs, root.Errorf("join the documents", "the settings are one document"))
			break
		}
		values, wrong := known.Read(root)
		errs = append(errs, wrong...)
		for name, n := range values {
			texts := []string{n.Text()}
			if n.Kind() == document.KindList {
				texts = nil
				for _, element := range n.Elements() {
					texts = append(texts, element.Text())
				}
			}
			for i, text := range texts {
				if isPath[name] {
					texts[i] = resolve(text)
				}
			}
			if out[name] = texts; name != rulesFlag && name != paramFlag {
				out[name] = texts[0]
			}
		}
	}
	return out, errs.Sorted().Err()
}

// several takes a list of values, or the one of it.
func several(element *field.Type) *field.Type {
	return &field.Type{
		Kinds: document.KindList | document.KindString, Items: element,
		Check: func(n *document.Node) *document.Error {
			if n.Kind() == document.KindString && element.Check != nil {
				return element.Check(n)
			}
			return nil
		},
	}
}

// checked takes a value whose text passes a check.
func checked(kinds document.Kind, check func(string) error) *field.Type {
	return &field.Type{Kinds: kinds, Check: func(n *document.Node) *document.Error {
		if err := check(n.Text()); err != nil {
			return n.Errorf("", "%v", err)
		}
		return nil
	}}
}
