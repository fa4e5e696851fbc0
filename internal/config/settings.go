package config

import (
	"fmt"
	"math"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
)

// The flags that are not rows of the table: where the file is cannot be said
// in it, and the others may be repeated.
const (
	configFlag = "config"
	rulesFlag  = "rules"
	paramFlag  = "param"
)

// setting is one row of the table.
type setting struct {
	name     string
	short    string
	fallback string
	kind     string // the word for a value in the help
	usage    string
	set      func(text string) error // puts a value into the configuration, or says what is wrong with it
}

// The kinds of settings that are more than a word in the help.
const (
	boolean   = "bool"     // It is turned on by its name alone. The word is pflag's.
	duration  = "duration" // The word is pflag's.
	file      = "FILE"     // In a file of settings, it is relative to that.
	directory = "DIR"      // So is this.
)

// leases is the one kind of lock.
const leases = "leases"

// settings is the table, in the order of the help. A value is read by its row alone, so it means the same wherever it is written.
func settings(c *Config) []setting {
	return []setting{
		{name: "kubeconfig", kind: file, usage: "the kubeconfig to use (default: $KUBECONFIG, ~/.kube/config, or the pod's service account)", set: anyText(&c.Cluster.Kubeconfig)},
		{name: "context", kind: "NAME", usage: "the context of the kubeconfig (default: its current one)", set: anyText(&c.Cluster.Context)},
		{name: "namespace", short: "n", kind: "NAME", usage: "the namespace of a RuleSet that names none (default: that of the context)", set: namespace(&c.Cluster.Namespace)},
		{name: "instance", fallback: DefaultInstance, kind: "NAME", usage: "whose inventory of what rules leave behind to keep; give processes with other rules other names", set: named(&c.Instance, "be part of the name of a ConfigMap", validation.IsDNS1123Label)},
		{name: "force", fallback: "false", kind: boolean, usage: "run even if another process runs as the same instance, or runs the rule sets in the cluster", set: truth(&c.Force)},
		{name: "prune", fallback: "false", kind: boolean, usage: "clean up after whole sets of the instance that are not among --rules any more; otherwise they are only reported", set: truth(&c.Prune)},
		{name: "workers", fallback: "10", kind: "N", usage: "how many objects are worked on at the same time, for each service account", set: atLeast(1, &c.Workers)},
		{name: "account-cache-limit", fallback: "0", kind: "BYTES", usage: "how much the caches of one service account may take, such as 128Mi; 0 for no limit", set: quantity(&c.AccountCache)},
		{name: "account-max-caches", fallback: "500", kind: "N", usage: "how many caches the rules of one service account may have: one for each resource, namespace and selectors; 0 for no limit", set: atLeast(0, &c.AccountCaches)},
		{name: "account-rules-limit", fallback: "512Ki", kind: "BYTES", usage: "how long the rule sets in the cluster of one service account may be together, as JSON; 0 for no limit", set: quantity(&c.AccountRules)},
		{name: "kube-api-qps", fallback: "0", kind: "N", usage: "requests per second to the API server; 0 for no limit", set: rate(&c.Cluster.QPS)},
		{name: "kube-api-burst", fallback: "0", kind: "N", usage: "requests at once before --kube-api-qps holds them back; 0 for the same number", set: atLeast(0, &c.Cluster.Burst)},
		{name: "rules-from-cluster", fallback: "false", kind: boolean, usage: "run the RuleSets and ClusterRuleSets of the cluster too, each as the service account that it names", set: truth(&c.FromCluster)},
		{name: "allow-sensitive", kind: "KINDS", usage: "what rules that name it may write, comma-separated: " + strings.Join(rules.SensitiveKinds(), ", "), set: sensitive(&c.Sensitive)},
		{name: "dry-run", fallback: string(DryRunNone), kind: "WHO", usage: "none to write; server to have the API server check writes without storing them; client to send nothing", set: OneOf(&c.DryRun, DryRuns())},
		{name: "once", fallback: "false", kind: boolean, usage: "settle what can settle now, report, exit; opens no port", set: truth(&c.Once)},
		{name: "cache-sync-timeout", fallback: "2m", kind: duration, usage: "how long --once and diff wait until all resources are listed", set: positive(&c.CacheSyncTimeout)},
		{name: "leader-elect", fallback: "false", kind: boolean, usage: "run the rules only while holding a Lease, so that of several replicas one does", set: truth(&c.Election.Enabled)},
		{name: "leader-elect-lease-duration", fallback: "15s", kind: duration, usage: "how long the others wait for a leader that does not renew the lease; whole seconds", set: wholeSeconds(&c.Election.Lease)},
		{name: "leader-elect-renew-deadline", fallback: "10s", kind: duration, usage: "how long a leader goes on writing after it last renewed the lease", set: positive(&c.Election.Renew)},
		{name: "leader-elect-retry-period", fallback: "2s", kind: duration, usage: "how long to wait between renewals, and after one that failed", set: positive(&c.Election.Retry)},
		{name: "leader-elect-resource-lock", fallback: leases, kind: "KIND", usage: "what is locked: leases", set: OneOf(new(string), []string{leases})},
		{name: "leader-elect-resource-name", fallback: "dyncontroller", kind: "NAME", usage: "the name of the Lease; give processes with other rules other names", set: named(&c.Election.Name, "name an object", validation.IsDNS1123Subdomain)},
		{name: "leader-elect-resource-namespace", kind: "NAME", usage: "the namespace of the Lease (default: that of the process)", set: namespace(&c.Election.Namespace)},
		{name: "metrics-bind-address", fallback: "127.0.0.1:8080", kind: "ADDRESS", usage: "where /metrics is served; 0 for nowhere", set: bindAddress(&c.Listen.Metrics)},
		{name: "metrics-secure", fallback: "false", kind: boolean, usage: "serve /metrics and /explain by TLS, to who has a bearer token that the API server accepts and the right to get them", set: truth(&c.Listen.Secure)},
		{name: "metrics-cert-dir", kind: directory, usage: "the directory with tls.crt and tls.key for --metrics-secure, read again when they change (default: a certificate of its own, which nobody can verify)", set: anyText(&c.Listen.CertDir)},
		{name: "profiling", fallback: "false", kind: boolean, usage: "serve profiles at /debug/pprof beside the metrics: with --metrics-secure to who has the right to get them, otherwise on a loopback address alone", set: truth(&c.Listen.Profiling)},
		{name: "health-probe-bind-address", fallback: ":8081", kind: "ADDRESS", usage: "where /healthz, /livez and /readyz are served; 0 for nowhere", set: bindAddress(&c.Listen.Health)},
		{name: "v", short: "v", fallback: "0", kind: "N", usage: "how much is logged: 1 for debugging, 4 to 7 for the Kubernetes client too", set: atLeast(0, &c.Log.Verbosity)},
		{name: "logging-format", fallback: "text", kind: "FORMAT", usage: "how logs are written: text or json", set: logFormat(&c.Log.JSON)},
	}
}

// DryRuns lists the values of --dry-run.
func DryRuns() []string {
	return []string{string(DryRunNone), string(DryRunServer), string(DryRunClient)}
}

// LoggingFormats lists the values of --logging-format.
func LoggingFormats() []string { return []string{"text", "json"} }

// shards is the setting that is part of the language but not built yet.
const shards = "shards"

// Unsupported reports whether the setting is known but not built yet, so that
// a flag of the name is refused for that reason.
func Unsupported(name string) bool { return name == shards }

// AddFlags adds a flag for every setting.
func AddFlags(flags *pflag.FlagSet) {
	flags.StringArrayP(rulesFlag, "f", nil, "`PATH` of the rules: a file, a directory without its folders or - for standard input; may be repeated; watched for changes")
	AddParamFlag(flags)
	flags.String(configFlag, "", "`FILE` of settings, such as \"kube-api-qps: 50\"; a flag or DYNCONTROLLER_KUBE_API_QPS goes before it")
	for _, s := range settings(new(Config)) {
		flag := flags.VarPF(&Value{Text: s.fallback, Kind: s.kind, Check: s.set}, s.name, s.short, s.usage)
		if s.kind == boolean {
			flag.NoOptDefVal = "true"
		}
	}
}

// AddParamFlag adds --param, which several commands have. Its values are for
// [ParseParams].
func AddParamFlag(flags *pflag.FlagSet) *[]string {
	return flags.StringArray(paramFlag, nil, "replace a constant of a set of rules in a file: `SET.NAME=VALUE`, where VALUE is YAML or, in place of a text, the text itself; may be repeated")
}

// Value is a [pflag.Value]: a text that is checked.
type Value struct {
	Text  string // at first the default
	Kind  string // the word for it in the help
	Check func(text string) error
}

// String implements [pflag.Value].
func (v *Value) String() string { return v.Text }

// Type implements [pflag.Value].
func (v *Value) Type() string { return v.Kind }

// Set implements [pflag.Value].
func (v *Value) Set(text string) error {
	if err := v.Check(text); err != nil {
		return err
	}
	v.Text = text
	return nil
}

func anyText(into *string) func(string) error {
	return func(text string) error {
		*into = text
		return nil
	}
}

// parsed takes what the parser makes of a text, or says what is wanted where it refuses the text.
func parsed[T any](into *T, want string, parse func(text string) (value T, ok bool)) func(string) error {
	return func(text string) error {
		value, ok := parse(text)
		if !ok {
			return fmt.Errorf("want %s, have %q", want, text)
		}
		*into = value
		return nil
	}
}

// atLeast is for whole numbers in decimal, without a sign or a zero before them: others may be read in several ways.
func atLeast(least int, into *int) func(string) error {
	return parsed(into, fmt.Sprintf("a whole number, at least %d", least), func(text string) (int, bool) {
		n, err := strconv.Atoi(text)
		return n, err == nil && n >= least && strconv.Itoa(n) == text
	})
}

func quantity(into *int64) func(string) error {
	return parsed(into, "a number of bytes such as 128Mi, or 0 for no limit", func(text string) (int64, bool) {
		q, err := resource.ParseQuantity(text)
		return q.Value(), err == nil && q.Sign() >= 0
	})
}

func rate(into *float32) func(string) error {
	return parsed(into, "a number of requests per second, or 0 for no limit", func(text string) (float32, bool) {
		n, err := strconv.ParseFloat(text, 32)
		return float32(n), err == nil && n >= 0 && !math.IsInf(n, 0) // What is not a number is not at least 0 either.
	})
}

func truth(into *bool) func(string) error {
	return parsed(into, "true or false", func(text string) (bool, bool) {
		is, err := strconv.ParseBool(text)
		return is, err == nil
	})
}

// OneOf returns what takes one of the values, and no other text.
func OneOf[T ~string](into *T, values []string) func(string) error {
	return parsed(into, strings.Join(values, " or "), func(text string) (T, bool) { return T(text), slices.Contains(values, text) })
}

func logFormat(isJSON *bool) func(string) error {
	return func(text string) error {
		*isJSON = text == "json"
		return OneOf(new(string), LoggingFormats())(text)
	}
}

// named is for what can do something by its name.
func named(into *string, does string, wrong func(string) []string) func(string) error {
	return func(text string) error {
		if why := wrong(text); len(why) > 0 {
			return fmt.Errorf("%q cannot %s: %s", text, does, why[0])
		}
		*into = text
		return nil
	}
}

// namespace may be empty.
func namespace(into *string) func(string) error {
	return named(into, "name a namespace", func(text string) []string {
		if text == "" {
			return nil
		}
		return validation.IsDNS1123Label(text)
	})
}

func positive(into *time.Duration) func(string) error {
	return parsed(into, "a duration above 0 such as 2s", func(text string) (time.Duration, bool) {
		d, err := time.ParseDuration(text)
		return d, err == nil && d > 0
	})
}

// wholeSeconds is for what a Lease holds as a number of seconds.
func wholeSeconds(into *time.Duration) func(string) error {
	return parsed(into, "a duration of whole seconds above 0 such as 15s", func(text string) (time.Duration, bool) {
		d, err := time.ParseDuration(text)
		return d, err == nil && d > 0 && d%time.Second == 0 && d <= math.MaxInt32*time.Second
	})
}

// sensitive takes a list with commas apart, each element once, in their order. It is nil for none.
func sensitive(into *[]string) func(string) error {
	return func(text string) error {
		known := rules.SensitiveKinds()
		*into = nil
		for kind := range strings.SplitSeq(text, ",") {
			kind = strings.TrimSpace(kind)
			switch near := document.Suggest(kind, known); {
			case kind == "" || slices.Contains(*into, kind):
			case slices.Contains(known, kind):
				*into = append(*into, kind)
			case near != "":
				return fmt.Errorf("%q is no sensitive kind; did you mean %q?", kind, near)
			default:
				return fmt.Errorf("%q is no sensitive kind; those are %s", kind, strings.Join(known, ", "))
			}
		}
		return nil
	}
}

// bindAddress leaves the address of a server empty that is turned off.
func bindAddress(into *string) func(string) error {
	return parsed(into, "an address such as 127.0.0.1:8080 or :8080, or 0 to turn it off", func(text string) (string, bool) {
		if text == "0" {
			return "", true
		}
		_, port, err := net.SplitHostPort(text)
		_, wrong := strconv.ParseUint(port, 10, 16)
		return text, err == nil && wrong == nil
	})
}
