package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"

	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
)

// load parses args and loads them over env and, if it is not empty, a file.
func load(t *testing.T, args, env []string, file string) (Config, error) {
	t.Helper()
	if file != "" {
		path := filepath.Join(t.TempDir(), "settings.yaml")
		if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
			t.Fatal(err)
		}
		args = append(args, "--config", path)
	}
	flags := pflag.NewFlagSet("run", pflag.ContinueOnError)
	AddFlags(flags)
	if err := flags.Parse(args); err != nil {
		t.Fatalf("parsing %q: %v", args, err)
	}
	return Load(flags, env)
}

// defaults is what a user gets who only names rules.
func defaults(change func(*Config)) Config {
	c := Config{
		Rules:   []string{"r.yaml"},
		Cluster: Cluster{QPS: NoLimit, Burst: NoLimit},
		Workers: 10, AccountCaches: 500, AccountRules: 512 << 10,
		DryRun:   DryRunNone,
		Instance: "default",

		CacheSyncTimeout: 2 * time.Minute,
		Election:         electionDefaults(nil),
		Listen:           Listen{Metrics: "127.0.0.1:8080", Health: ":8081"},
	}
	if change != nil {
		change(&c)
	}
	return c
}

func TestLoad(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		args   []string
		env    []string
		file   string
		want   Config
	}{
		"defaults": {
			reason: "Everything but the rules has a default.",
			args:   []string{"-f", "r.yaml"},
			want:   defaults(nil),
		},
		"every flag": {
			reason: "Each flag reaches its field.",
			args: []string{
				"--rules", "a,b.yaml", "-f", "-", "--kubeconfig", "k", "--context", "c", "-n", "ns", "--workers", "7",
				"--kube-api-qps", "2.5", "--kube-api-burst", "9", "--dry-run=server", "--once",
				"--metrics-bind-address=:2", "--health-probe-bind-address", "[::1]:0", "-v", "4", "--logging-format", "json",
				"--param", "a.b=1", "--param=a.b.c=[x, \"y\"]", "--instance=blue", "--prune", "--metrics-secure", "--metrics-cert-dir=certs", "--profiling", "--cache-sync-timeout=30s",
			},
			want: Config{
				Rules:   []string{"a,b.yaml", "-"},
				Params:  []rules.Param{{Set: "a", Name: "b", Value: "1"}, {Set: "a.b", Name: "c", Value: `[x, "y"]`}},
				Cluster: Cluster{Kubeconfig: "k", Context: "c", Namespace: "ns", QPS: 2.5, Burst: 9},
				Workers: 7, AccountCaches: 500, AccountRules: 512 << 10,
				DryRun: DryRunServer,
				Once:   true, CacheSyncTimeout: 30 * time.Second,
				Instance: "blue", Prune: true,
				Election: electionDefaults(nil),
				Listen:   Listen{Metrics: ":2", Health: "[::1]:0", Secure: true, CertDir: "certs", Profiling: true},
				Log:      Log{Verbosity: 4, JSON: true},
			},
		},
		"every variable": {
			reason: "Each setting has a variable; rules are split as KUBECONFIG is, params by line.",
			env: []string{
				"DYNCONTROLLER_RULES=a.yaml:b c", "DYNCONTROLLER_PARAM=a.b=x:y, z\na.c=\n", "DYNCONTROLLER_KUBECONFIG=k", "DYNCONTROLLER_CONTEXT=c", "DYNCONTROLLER_NAMESPACE=ns",
				"DYNCONTROLLER_WORKERS=7", "DYNCONTROLLER_KUBE_API_QPS=2.5", "DYNCONTROLLER_KUBE_API_BURST=9",
				"DYNCONTROLLER_DRY_RUN=client", "DYNCONTROLLER_ONCE=true", "DYNCONTROLLER_METRICS_BIND_ADDRESS=:1",
				"DYNCONTROLLER_HEALTH_PROBE_BIND_ADDRESS=0", "DYNCONTROLLER_V=1", "DYNCONTROLLER_LOGGING_FORMAT=json",
				"DYNCONTROLLER_INSTANCE=blue", "DYNCONTROLLER_PRUNE=true", "DYNCONTROLLER_METRICS_SECURE=true", "DYNCONTROLLER_METRICS_CERT_DIR=certs", "DYNCONTROLLER_CACHE_SYNC_TIMEOUT=30s",
			},
			want: Config{
				Rules:   []string{"a.yaml", "b c"},
				Params:  []rules.Param{{Set: "a", Name: "b", Value: "x:y, z"}, {Set: "a", Name: "c"}},
				Cluster: Cluster{Kubeconfig: "k", Context: "c", Namespace: "ns", QPS: 2.5, Burst: 9},
				Workers: 7, AccountCaches: 500, AccountRules: 512 << 10,
				DryRun: DryRunClient,
				Once:   true, CacheSyncTimeout: 30 * time.Second,
				Instance: "blue", Prune: true,
				Election: electionDefaults(nil),
				Listen:   Listen{Metrics: ":1", Secure: true, CertDir: "certs"},
				Log:      Log{Verbosity: 1, JSON: true},
			},
		},
		"every key": {
			reason: "Each setting has a key in the file; an absolute path stays.",
			file: `
rules: [/r/a.yaml, "-"]
param: [a.Upper=B=C, "a.b={x: 1}"]
kubeconfig: /k
context: c
namespace: ns
workers: 7
kube-api-qps: 2.5
kube-api-burst: 9
dry-run: client
once: true
metrics-bind-address: 0
health-probe-bind-address: :1
v: 1
logging-format: json
instance: blue
prune: true
cache-sync-timeout: 30s
`,
			want: Config{
				Rules:   []string{"/r/a.yaml", "-"},
				Params:  []rules.Param{{Set: "a", Name: "Upper", Value: "B=C"}, {Set: "a", Name: "b", Value: "{x: 1}"}},
				Cluster: Cluster{Kubeconfig: "/k", Context: "c", Namespace: "ns", QPS: 2.5, Burst: 9},
				Workers: 7, AccountCaches: 500, AccountRules: 512 << 10,
				DryRun: DryRunClient,
				Once:   true, CacheSyncTimeout: 30 * time.Second,
				Instance: "blue", Prune: true,
				Election: electionDefaults(nil),
				Listen:   Listen{Health: ":1"},
				Log:      Log{Verbosity: 1, JSON: true},
			},
		},
		"flag over all": {
			reason: "A flag wins even with the value of the default.",
			args:   []string{"-f", "r.yaml", "--workers=10"},
			env:    []string{"DYNCONTROLLER_WORKERS=5", "DYNCONTROLLER_RULES=e.yaml"},
			file:   "workers: 6\nrules: /f.yaml\n",
			want:   defaults(nil),
		},
		"env over file": {
			reason: "A variable wins over the file, and both over the default.",
			args:   []string{"-f", "r.yaml"},
			env:    []string{"DYNCONTROLLER_WORKERS=5"},
			file:   "workers: 6\nonce: true\n",
			want:   defaults(func(c *Config) { c.Workers, c.Once = 5, true }),
		},
		"one path in the file": {
			reason: "One path need not be a list.",
			file:   "rules: /r.yaml",
			want:   defaults(func(c *Config) { c.Rules = []string{"/r.yaml"} }),
		},
		"one param in the file": {
			reason: "One param need not be a list, and may be of several lines.",
			args:   []string{"-f", "r.yaml"},
			file:   "param: |-\n  a.b=x\n  y\n",
			want:   defaults(func(c *Config) { c.Params = []rules.Param{{Set: "a", Name: "b", Value: "x\ny"}} }),
		},
		"params of a flag": {
			reason: "They stand in place of those of the variable, and those in place of the file's.",
			args:   []string{"-f", "r.yaml", "--param", "a.b=flag"},
			env:    []string{"DYNCONTROLLER_PARAM=a.b=env\na.c=env"},
			file:   "param: [a.b=file, a.d=file]\n",
			want:   defaults(func(c *Config) { c.Params = []rules.Param{{Set: "a", Name: "b", Value: "flag"}} }),
		},
		"turned off by a flag": {
			reason: "false is a value like any other.",
			args:   []string{"-f", "r.yaml", "--once=false"},
			env:    []string{"DYNCONTROLLER_ONCE=true"},
			want:   defaults(nil),
		},
		"burst follows qps": {
			reason: "A burst of 0 would let no request through.",
			args:   []string{"-f", "r.yaml", "--kube-api-qps=0.5"},
			want:   defaults(func(c *Config) { c.Cluster.QPS, c.Cluster.Burst = 0.5, 1 }),
		},
		"service links": {
			reason: "Kubernetes sets these where a Service has our name; an empty variable is none.",
			args:   []string{"-f", "r.yaml"},
			env: []string{
				"DYNCONTROLLER_SERVICE_HOST=10.0.0.1", "DYNCONTROLLER_SERVICE_PORT_METRICS=8080", "DYNCONTROLLER_PORT=tcp://10.0.0.1:8080",
				"DYNCONTROLLER_METRICS_PORT_8080_TCP_ADDR=10.0.0.1", "DYNCONTROLLER_WORKERS=", "WORKERS=9", "BROKEN",
			},
			want: defaults(nil),
		},
		"two servers on any port": {
			reason: "Port 0 is another port each time.",
			args:   []string{"-f", "r.yaml", "--metrics-bind-address=:0", "--health-probe-bind-address=:0"},
			want:   defaults(func(c *Config) { c.Listen = Listen{Metrics: ":0", Health: ":0"} }),
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := load(t, tc.args, tc.env, tc.file)
			if err != nil {
				t.Fatalf("%s\nerror: %v", tc.reason, err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\n-want +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestLoadMistakes(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		args   []string
		env    []string
		file   string
		want   []string // parts of the error
	}{
		"no rules":       {reason: "Without rules there is nothing to do.", want: []string{"there are no rules to run; name a file, a directory or - with --rules, or run those of the cluster with --rules-from-cluster"}},
		"burst alone":    {reason: "It would be ignored.", args: []string{"-f", "r", "--kube-api-burst=5"}, want: []string{"without --kube-api-qps"}},
		"same address":   {reason: "The second could not listen.", args: []string{"-f", "r", "--metrics-bind-address=:8081"}, want: []string{`both ":8081"`}},
		"no profiles":    {reason: "They have no address.", args: []string{"-f", "r", "--profiling", "--metrics-bind-address=0"}, want: []string{"--profiling"}},
		"certs alone":    {reason: "They would not be used.", args: []string{"-f", "r", "--metrics-cert-dir=certs"}, want: []string{"--metrics-cert-dir is for --metrics-secure"}},
		"secure nothing": {reason: "It would be ignored.", args: []string{"-f", "r", "--metrics-secure", "--metrics-bind-address=0"}, want: []string{"--metrics-bind-address=0 turns off"}},
		"missing file":   {reason: "The file was asked for.", env: []string{"DYNCONTROLLER_CONFIG=/nowhere/c.yaml"}, want: []string{"reading --config", "/nowhere/c.yaml"}},
		"bad variable":   {reason: "The variable is named.", env: []string{"DYNCONTROLLER_WORKERS=many"}, want: []string{`DYNCONTROLLER_WORKERS: want a whole number, at least 1, have "many"`}},
		"env not yet":    {reason: "Refused by name.", env: []string{"DYNCONTROLLER_SHARDS=2"}, want: []string{"DYNCONTROLLER_SHARDS is not supported yet"}},
		"env misspelt":   {reason: "A typo is not ignored.", env: []string{"DYNCONTROLLER_WORKER=4"}, want: []string{"DYNCONTROLLER_WORKER is not a setting; did you mean DYNCONTROLLER_WORKERS?"}},
		"env unknown":    {reason: "Nothing is near.", env: []string{"DYNCONTROLLER_XYZZY=4"}, want: []string{"DYNCONTROLLER_XYZZY is not a setting"}},
		"key not yet":    {reason: "Refused by name.", file: "shards: 2\n", want: []string{"1:9", `"shards" is not supported yet`}},
		"bad instance":   {reason: "No ConfigMap could have the name.", env: []string{"DYNCONTROLLER_INSTANCE=a.b"}, want: []string{`DYNCONTROLLER_INSTANCE: "a.b" cannot be part of the name of a ConfigMap`}},
		"no instance":    {reason: "Two processes would share what has no name.", args: []string{"-f", "r"}, file: "instance: \"\"\n", want: []string{"1:11", "cannot be part of the name"}},
		"long instance":  {reason: "A label has 63 characters.", file: "instance: " + strings.Repeat("x", 64) + "\n", want: []string{"1:11", "63"}},
		"key misspelt":   {reason: "A typo is located and corrected.", file: "v: 1\nkube-api-qsp: 5\n", want: []string{"settings.yaml:2:1", `did you mean "kube-api-qps"?`}},
		"bad param":      {reason: "It would replace nothing.", args: []string{"-f", "r", "--param", "minStores=5"}, want: []string{`--param: "minStores=5" is not of the form SET.NAME=VALUE`}},
		"env bad param":  {reason: "The variable is named.", env: []string{"DYNCONTROLLER_PARAM=a.b=1\nc"}, want: []string{`DYNCONTROLLER_PARAM: "c" is not of the form`}},
		"key bad param":  {reason: "Each is located.", file: "param: [a.b=1, c, d]\n", want: []string{`settings.yaml:1:16: param[1]: "c" is not`, `settings.yaml:1:19: param[2]: "d" is not`}},
		"key num param":  {reason: "A param has a name.", file: "param: [5]\n", want: []string{"1:9", "want a string, have an integer"}},
		"key bad":        {reason: "A value is checked where it is.", file: "workers: 0\n", want: []string{"settings.yaml:1:10", `at least 1, have "0"`}},
		"key wrong kind": {reason: "A list is no number.", file: "workers: [1]\n", want: []string{"1:10", "have a list"}},
		"key null":       {reason: "Nothing is not a value.", file: "rules:\n", want: []string{"1:1", "want a string or a list"}},
		"not a map":      {reason: "The file holds settings.", file: "- a\n", want: []string{"1:1", "want a map, have a list"}},
		"not yaml":       {reason: "Syntax is located.", file: "workers: [1\n", want: []string{"settings.yaml:"}},
		"two documents":  {reason: "It would be unclear which holds.", file: "v: 1\n---\nv: 2\n", want: []string{"3:1", "one document"}},
		"all at once": {
			reason: "Every mistake of both sources is reported.",
			env:    []string{"DYNCONTROLLER_V=-1", "DYNCONTROLLER_ONCE=maybe", "DYNCONTROLLER_DRY_RUN=yes", "DYNCONTROLLER_NAMESPACE=No"},
			file:   "logging-format: xml\nmetrics-bind-address: localhost\nkube-api-qps: -1\n",
			want: []string{
				"DYNCONTROLLER_V", "DYNCONTROLLER_ONCE", "none or server or client", "DYNCONTROLLER_NAMESPACE",
				"text or json", "127.0.0.1:8080", "requests per second",
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := load(t, tc.args, tc.env, tc.file)
			if err == nil {
				t.Fatalf("%s\nno error", tc.reason)
			}
			for _, part := range tc.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%s\nerror lacks %q:\n%v", tc.reason, part, err)
				}
			}
		})
	}
}

// TestWholeNumbers holds that a number means the same wherever it is written: some readers take one that begins with a zero for octal.
func TestWholeNumbers(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"010", "08", "0x10", "+4", "-0", "1_0", "4.0", " 4", "1e1", "00", "99999999999999999999"} {
		for name, variable := range map[string]string{"workers": "DYNCONTROLLER_WORKERS", "kube-api-burst": "DYNCONTROLLER_KUBE_API_BURST", "v": "DYNCONTROLLER_V"} {
			flags := pflag.NewFlagSet("run", pflag.ContinueOnError)
			AddFlags(flags)
			var invalid *pflag.InvalidValueError
			if err := flags.Parse([]string{"--" + name + "=" + text}); !errors.As(err, &invalid) || invalid.GetFlag().Name != name {
				t.Errorf("--%s=%s is refused as a bad value, got %v", name, text, err)
			}
			if _, err := load(t, []string{"-f", "r"}, []string{variable + "=" + text}, ""); err == nil || !strings.HasPrefix(err.Error(), variable+": ") {
				t.Errorf("%s=%s is refused by its name, got %v", variable, text, err)
			}
			var located *document.Error
			if _, err := load(t, []string{"-f", "r"}, nil, name+": \""+text+"\"\n"); !errors.As(err, &located) || located.Line != 1 {
				t.Errorf("%s: %q is refused at its place, got %v", name, text, err)
			}
		}
	}
}

func TestMistakesOfTheFileAreLocated(t *testing.T) {
	t.Parallel()
	_, err := load(t, nil, nil, "workers: many\n")
	var located *document.Error
	if !errors.As(err, &located) || located.Line != 1 {
		t.Errorf("a mistake in the file has a place to show, got %#v", err)
	}
}

func TestPathsOfTheFileAreRelativeToIt(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	path := filepath.Join(directory, "c.yaml")
	if err := os.WriteFile(path, []byte("rules: [r.yaml, ../s]\nkubeconfig: k\nmetrics-secure: true\nmetrics-cert-dir: certs\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := load(t, []string{"--config", path}, nil, "")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{filepath.Join(directory, "r.yaml"), filepath.Join(filepath.Dir(directory), "s")}
	if diff := cmp.Diff(want, got.Rules); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if want := filepath.Join(directory, "k"); got.Cluster.Kubeconfig != want {
		t.Errorf("kubeconfig: want %q, got %q", want, got.Cluster.Kubeconfig)
	}
	if want := filepath.Join(directory, "certs"); got.Listen.CertDir != want {
		t.Errorf("metrics-cert-dir: want %q, got %q", want, got.Listen.CertDir)
	}
}

func TestFlagMistakes(t *testing.T) {
	t.Parallel()
	for _, arg := range []string{
		"--workers=0", "--kube-api-qps=NaN", "--kube-api-qps=-1", "--dry-run=yes", "--once=maybe", "-v=x",
		"--metrics-bind-address=8080", "--health-probe-bind-address=:99999", "--logging-format=klog", "--namespace=A_b",
		"--instance=A", "--instance=", "--prune=maybe",
	} {
		flags := pflag.NewFlagSet("run", pflag.ContinueOnError)
		AddFlags(flags)
		err := flags.Parse([]string{arg})
		var invalid *pflag.InvalidValueError
		if !errors.As(err, &invalid) {
			t.Errorf("%s is refused as a bad value, got %v", arg, err)
		}
	}
}

func TestUnsupported(t *testing.T) {
	t.Parallel()
	if !Unsupported("shards") || Unsupported("workers") || Unsupported("nonsense") {
		t.Error("only what is part of the language and not built is unsupported")
	}
	flags := pflag.NewFlagSet("run", pflag.ContinueOnError)
	AddFlags(flags)
	for _, name := range []string{shards} {
		if flags.Lookup(name) != nil {
			t.Errorf("--%s is built and unsupported at the same time", name)
		}
	}
}

func FuzzParseFile(f *testing.F) {
	f.Add([]byte("rules: [a]\nworkers: 4\n"))
	f.Add([]byte("kube-api-qps: 1e3\nprune: yes\n---\n"))
	f.Add([]byte("rules: {a: b}\nv: \"1\"\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		values, err := parseFile(document.File{Name: "c.yaml", Data: data})
		if err != nil {
			return
		}
		for _, s := range settings(new(Config)) {
			if text, ok := values[s.name].(string); ok && s.set(text) != nil {
				t.Errorf("%s: %q was accepted", s.name, text)
			}
		}
	})
}
