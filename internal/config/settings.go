package config

import (
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/dyncontroller/dyncontroller/pkg/rules"
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
	check    func(string) error // nil where any text will do
}

// settings is the table, in the order of the help.
func settings() []setting {
	return []setting{
		{name: "kubeconfig", kind: "FILE", usage: "the kubeconfig to use (default: $KUBECONFIG, ~/.kube/config, or the pod's service account)"},
		{name: "context", kind: "NAME", usage: "the context of the kubeconfig (default: its current one)"},
		{name: "namespace", short: "n", kind: "NAME", usage: "the namespace of a RuleSet that names none (default: that of the context)", check: namespace},
		{name: "instance", fallback: DefaultInstance, kind: "NAME", usage: "whose inventory of what rules leave behind to keep; give processes with other rules other names", check: label},
		{name: "prune", fallback: "false", kind: boolean, usage: "clean up after whole sets of the instance that are not among --rules any more; otherwise they are only reported", check: truth},
		{name: "workers", fallback: "4", kind: "N", usage: "how many objects are worked on at the same time, for each service account", check: atLeast(1)},
		{name: "account-cache-limit", fallback: "0", kind: "BYTES", usage: "how much the caches of one service account may take, such as 128Mi; 0 for no limit", check: quantity},
		{name: "kube-api-qps", fallback: "0", kind: "N", usage: "requests per second to the API server; 0 for no limit", check: rate},
		{name: "kube-api-burst", fallback: "0", kind: "N", usage: "requests at once before --kube-api-qps holds them back; 0 for the same number", check: atLeast(0)},
		{name: "rules-from-cluster", fallback: "false", kind: boolean, usage: "run the RuleSets and ClusterRuleSets of the cluster too, each as the service account that it names", check: truth},
		{name: "allow-sensitive", kind: "KINDS", usage: "what rules that name it may write, comma-separated: " + strings.Join(rules.SensitiveKinds(), ", "), check: sensitive},
		{name: "dry-run", fallback: string(DryRunNone), kind: "WHO", usage: "none to write; server to have the API server check writes without storing them; client to send nothing", check: oneOf(DryRuns()...)},
		{name: "once", fallback: "false", kind: boolean, usage: "settle what can settle now, report, exit; opens no port", check: truth},
		{name: "leader-elect", fallback: "false", kind: boolean, usage: "run the rules only while holding a Lease, so that of several replicas one does", check: truth},
		{name: "leader-elect-lease-duration", fallback: "15s", kind: duration, usage: "how long the others wait for a leader that does not renew the lease; whole seconds", check: wholeSeconds},
		{name: "leader-elect-renew-deadline", fallback: "10s", kind: duration, usage: "how long a leader goes on writing after it last renewed the lease", check: positive},
		{name: "leader-elect-retry-period", fallback: "2s", kind: duration, usage: "how long to wait between renewals, and after one that failed", check: positive},
		{name: "leader-elect-resource-lock", fallback: leases, kind: "KIND", usage: "what is locked: leases", check: oneOf(leases)},
		{name: "leader-elect-resource-name", fallback: "dyncontroller", kind: "NAME", usage: "the name of the Lease; give processes with other rules other names", check: objectName},
		{name: "leader-elect-resource-namespace", kind: "NAME", usage: "the namespace of the Lease (default: that of the process)", check: namespace},
		{name: "metrics-bind-address", fallback: "127.0.0.1:8080", kind: "ADDRESS", usage: "where /metrics is served; 0 for nowhere", check: bindAddress},
		{name: "metrics-secure", fallback: "false", kind: boolean, usage: "serve /metrics and /explain by TLS, to who has a bearer token that the API server accepts and the right to get them", check: truth},
		{name: "metrics-cert-dir", kind: "DIR", usage: "the directory with tls.crt and tls.key for --metrics-secure, read again when they change (default: a certificate of its own, which nobody can verify)"},
		{name: "profiling", fallback: "false", kind: boolean, usage: "serve profiles at /debug/pprof beside the metrics: with --metrics-secure to who has the right to get them, otherwise on a loopback address alone", check: truth},
		{name: "health-probe-bind-address", fallback: ":8081", kind: "ADDRESS", usage: "where /healthz, /livez and /readyz are served; 0 for nowhere", check: bindAddress},
		{name: "v", short: "v", fallback: "0", kind: "N", usage: "how much is logged: 1 for debugging, 4 to 7 for the Kubernetes client too", check: atLeast(0)},
		{name: "logging-format", fallback: "text", kind: "FORMAT", usage: "how logs are written: text or json", check: oneOf(LoggingFormats()...)},
	}
}

// DryRuns lists the values of --dry-run.
func DryRuns() []string {
	return []string{string(DryRunNone), string(DryRunServer), string(DryRunClient)}
}

// LoggingFormats lists the values of --logging-format.
func LoggingFormats() []string { return []string{"text", "json"} }

// unsupported lists the settings that are part of the language but not built
// yet.
func unsupported() []string {
	return []string{"shards"}
}

// Unsupported reports whether the setting is known but not built yet, so that
// a flag of the name is refused for that reason.
func Unsupported(name string) bool { return slices.Contains(unsupported(), name) }

// names lists the settings that env and file may hold besides those that may be
// repeated.
func names() []string {
	var out []string
	for _, s := range settings() {
		out = append(out, s.name)
	}
	return out
}

// AddFlags adds a flag for every setting.
func AddFlags(flags *pflag.FlagSet) {
	flags.StringArrayP(rulesFlag, "f", nil, "`PATH` of the rules: a file, a directory or - for standard input; may be repeated; watched for changes")
	AddParamFlag(flags)
	flags.String(configFlag, "", "`FILE` of settings, such as \"kube-api-qps: 50\"; a flag or DYNCONTROLLER_KUBE_API_QPS goes before it")
	for _, s := range settings() {
		flag := flags.VarPF(&value{setting: s, text: s.fallback}, s.name, s.short, s.usage)
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

// boolean is the kind of a setting that is turned on by its name alone. The
// word is pflag's.
const boolean = "bool"

// duration is the kind of a setting that is a length of time. The word is
// pflag's.
const duration = "duration"

// leases is the one kind of lock.
const leases = "leases"

// value is a setting as a flag: text that has been checked.
type value struct {
	setting
	text string
}

// String implements [pflag.Value].
func (v *value) String() string { return v.text }

// Type implements [pflag.Value].
func (v *value) Type() string { return v.kind }

// Set implements [pflag.Value].
func (v *value) Set(text string) error {
	if err := v.valid(text); err != nil {
		return err
	}
	v.text = text
	return nil
}

func (s setting) valid(text string) error {
	if s.check == nil {
		return nil
	}
	return s.check(text)
}
