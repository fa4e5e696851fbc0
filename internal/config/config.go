package config

import (
	"errors"
	"fmt"
	"maps"
	"math"

	"github.com/spf13/pflag"
	"github.com/spf13/viper"

	"github.com/dyncontroller/dyncontroller/pkg/rules"
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
	DryRun       DryRun
	Once         bool
	// Instance names the inventory of what rules leave behind, and Prune has what
	// whole sets left cleaned up when they are gone.
	Instance string
	Prune    bool
	Election Election
	Listen   Listen
	Log      Log
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

// Load layers the flags, which must have been added by [AddFlags] and parsed,
// over env, as of os.Environ, and over the file that they name. It finds all
// mistakes of env and file; those of the file are [document.Errors].
func Load(flags *pflag.FlagSet, env []string) (Config, error) {
	fromEnv, err := readEnv(env)
	path, ok := fromEnv[configFlag].(string)
	if flag := flags.Lookup(configFlag); flag.Changed || !ok {
		path = flag.Value.String()
	}
	fromFile, fileErr := readFile(path)
	if err := errors.Join(err, fileErr); err != nil {
		return Config{}, err
	}
	values := map[string]any{}
	maps.Copy(values, fromFile)
	maps.Copy(values, fromEnv)

	v := viper.New()
	if err := v.MergeConfigMap(values); err != nil {
		return Config{}, fmt.Errorf("reading the configuration: %w", err)
	}
	if err := v.BindPFlags(flags); err != nil {
		return Config{}, fmt.Errorf("reading the flags: %w", err)
	}
	return build(v)
}

// build takes values that have been checked one by one, and checks what
// concerns several.
func build(v *viper.Viper) (Config, error) {
	c := Config{
		Rules:       v.GetStringSlice(rulesFlag),
		FromCluster: v.GetBool("rules-from-cluster"),
		Sensitive:   list(v.GetString("allow-sensitive")),
		Cluster: Cluster{
			Kubeconfig: v.GetString("kubeconfig"),
			Context:    v.GetString("context"),
			Namespace:  v.GetString("namespace"),
			QPS:        float32(v.GetFloat64("kube-api-qps")),
			Burst:      v.GetInt("kube-api-burst"),
		},
		Workers: v.GetInt("workers"), AccountCache: bytesOf(v.GetString("account-cache-limit")),
		DryRun:   DryRun(v.GetString("dry-run")),
		Once:     v.GetBool("once"),
		Instance: v.GetString("instance"), Prune: v.GetBool("prune"),
		Election: election(v),
		Listen: Listen{
			Metrics: address(v.GetString("metrics-bind-address")),
			Health:  address(v.GetString("health-probe-bind-address")),
			Secure:  v.GetBool("metrics-secure"),
			CertDir: v.GetString("metrics-cert-dir"), Profiling: v.GetBool("profiling"),
		},
		Log: Log{Verbosity: v.GetInt("v"), JSON: v.GetString("logging-format") == "json"},
	}
	var err error
	if c.Params, err = ParseParams(v.GetStringSlice(paramFlag)); err != nil {
		return Config{}, fmt.Errorf("--%s: %w", paramFlag, err)
	}
	if err := c.Cluster.limit(); err != nil {
		return Config{}, err
	}
	if err := c.check(); err != nil {
		return Config{}, err
	}
	return c, nil
}

// check finds settings that do not go together.
func (c Config) check() error {
	switch {
	case len(c.Rules) == 0 && !c.FromCluster:
		return errors.New("there are no rules to run; name a file, a directory or - with --rules, or run those of the cluster with --rules-from-cluster")
	case len(c.Rules) == 0 && len(c.Params) > 0:
		return errors.New("--param replaces constants of sets in files, and there is no --rules; a set in the cluster is changed where it is")
	case c.Election.Enabled && c.Once:
		return errors.New("--once settles what can settle now and waits for nobody, so it cannot wait for a lease; leave one of --once and --leader-elect out")
	case c.Election.Enabled && c.DryRun != DryRunNone:
		return fmt.Errorf("--dry-run=%s changes nothing, so it cannot take a lease from those who do; leave one of --dry-run and --leader-elect out", c.DryRun)
	}
	if err := c.Listen.check(); err != nil {
		return err
	}
	return c.Election.check()
}

func (l Listen) check() error {
	switch {
	case l.Metrics != "" && l.Metrics == l.Health && !anyPort(l.Health):
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

// limit turns what users write, 0 for no limit, into what the client takes.
func (c *Cluster) limit() error {
	switch {
	case c.QPS == 0 && c.Burst > 0:
		return errors.New("--kube-api-burst limits nothing without --kube-api-qps")
	case c.QPS == 0:
		c.QPS, c.Burst = NoLimit, NoLimit
	case c.Burst == 0:
		c.Burst = int(math.Ceil(float64(c.QPS)))
	}
	return nil
}
