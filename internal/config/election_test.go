package config

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"

	"github.com/dyncontroller/dyncontroller/pkg/rules"
)

func electionDefaults(change func(*Election)) Election {
	e := Election{Lease: 15 * time.Second, Renew: 10 * time.Second, Retry: 2 * time.Second, Name: "dyncontroller"}
	if change != nil {
		change(&e)
	}
	return e
}

func TestElection(t *testing.T) {
	t.Parallel()
	all := Election{
		Enabled: true, Lease: time.Minute, Renew: 40 * time.Second, Retry: 500 * time.Millisecond,
		Name: "other.name", Namespace: "system",
	}
	cases := map[string]struct {
		reason    string
		args, env []string
		file      string
		want      Election
	}{
		"flags": {
			reason: "Each flag reaches its field.",
			args: []string{
				"--leader-elect", "--leader-elect-lease-duration=60s", "--leader-elect-renew-deadline=40s", "--leader-elect-retry-period=500ms",
				"--leader-elect-resource-lock=leases", "--leader-elect-resource-name=other.name", "--leader-elect-resource-namespace=system",
			},
			want: all,
		},
		"variables": {
			reason: "Each variable reaches its field.",
			env: []string{
				"DYNCONTROLLER_LEADER_ELECT=true", "DYNCONTROLLER_LEADER_ELECT_LEASE_DURATION=1m", "DYNCONTROLLER_LEADER_ELECT_RENEW_DEADLINE=40s",
				"DYNCONTROLLER_LEADER_ELECT_RETRY_PERIOD=0.5s", "DYNCONTROLLER_LEADER_ELECT_RESOURCE_LOCK=leases",
				"DYNCONTROLLER_LEADER_ELECT_RESOURCE_NAME=other.name", "DYNCONTROLLER_LEADER_ELECT_RESOURCE_NAMESPACE=system",
			},
			want: all,
		},
		"file": {
			reason: "Each key reaches its field.",
			file: `
leader-elect: true
leader-elect-lease-duration: 1m
leader-elect-renew-deadline: 40s
leader-elect-retry-period: 500ms
leader-elect-resource-lock: leases
leader-elect-resource-name: other.name
leader-elect-resource-namespace: system
`,
			want: all,
		},
		"alone": {
			reason: "Nothing else is needed.",
			args:   []string{"--leader-elect"},
			want:   electionDefaults(func(e *Election) { e.Enabled = true }),
		},
		"turned off for once": {
			reason: "What the file says for the service can be taken back for a single run.",
			args:   []string{"--leader-elect=false", "--once", "--dry-run=server"},
			file:   "leader-elect: true\n",
			want:   electionDefaults(nil),
		},
		"just enough": {
			reason: "The bounds are strict, and these are beyond them.",
			args:   []string{"--leader-elect-lease-duration=3s", "--leader-elect-renew-deadline=2401ms", "--leader-elect-retry-period=2s"},
			want: electionDefaults(func(e *Election) {
				e.Lease, e.Renew = 3*time.Second, 2401*time.Millisecond
			}),
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := load(t, append([]string{"-f", "r.yaml"}, tc.args...), tc.env, tc.file)
			if err != nil {
				t.Fatalf("%s\nerror: %v", tc.reason, err)
			}
			if diff := cmp.Diff(tc.want, got.Election); diff != "" {
				t.Errorf("%s\n-want +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestFromCluster(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason    string
		args, env []string
		file      string
		want      Config
	}{
		"alone": {
			reason: "Files are not needed then.",
			args:   []string{"--rules-from-cluster"},
			want:   defaults(func(c *Config) { c.Rules, c.FromCluster = []string{}, true }),
		},
		"both": {
			reason: "They run side by side.",
			args:   []string{"-f", "r.yaml"},
			env:    []string{"DYNCONTROLLER_RULES_FROM_CLUSTER=true"},
			want:   defaults(func(c *Config) { c.FromCluster = true }),
		},
		"once": {
			reason: "The sets that are in the cluster can be settled as well as those of files.",
			args:   []string{"--once"},
			file:   "rules-from-cluster: true\n",
			want:   defaults(func(c *Config) { c.Rules, c.FromCluster, c.Once = []string{}, true, true }),
		},
		"sensitive": {
			reason: "The list may have spaces, and say things twice.",
			args:   []string{"-f", "r.yaml", "--allow-sensitive=secrets, rbac,secrets,"},
			want:   defaults(func(c *Config) { c.Sensitive = []string{"secrets", "rbac"} }),
		},
		"all that is sensitive": {
			reason: "Each name that is documented is known.",
			args:   []string{"-f", "r.yaml"},
			file:   "allow-sensitive: apiservices,certificates,crds,leases,rbac,rules,secrets,webhooks\n",
			want:   defaults(func(c *Config) { c.Sensitive = rules.SensitiveKinds() }),
		},
		"nothing sensitive": {
			reason: "An empty list takes back what the variable says.",
			args:   []string{"-f", "r.yaml", "--allow-sensitive="},
			env:    []string{"DYNCONTROLLER_ALLOW_SENSITIVE=rbac"},
			want:   defaults(nil),
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

func TestElectionMistakes(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		args   []string
		want   string
	}{
		"once": {
			reason: "A Job would wait for as long as the service runs.",
			args:   []string{"--leader-elect", "--once"},
			want:   "--once settles what can settle now and waits for nobody, so it cannot wait for a lease; leave one of --once and --leader-elect out",
		},
		"dry run": {
			reason: "It would keep those from working that are meant to.",
			args:   []string{"--leader-elect", "--dry-run=server"},
			want:   "--dry-run=server changes nothing, so it cannot take a lease from those who do; leave one of --dry-run and --leader-elect out",
		},
		"short lease": {
			reason: "Two would lead at the same time.",
			args:   []string{"--leader-elect", "--leader-elect-lease-duration=10s"},
			want:   "--leader-elect-lease-duration (10s) must be longer than --leader-elect-renew-deadline (10s): a leader has to stop before the next one starts",
		},
		"short deadline": {
			reason: "One lost request would end a leader.",
			args:   []string{"--leader-elect", "--leader-elect-renew-deadline=2400ms"},
			want:   "--leader-elect-renew-deadline (2.4s) must be longer than 1.2 times --leader-elect-retry-period (2s): a renewal that fails has to be tried again",
		},
		"not elected": {
			reason: "It would show only when somebody turns the election on.",
			args:   []string{"--leader-elect-renew-deadline=20s"},
			want:   "--leader-elect-lease-duration (15s) must be longer than --leader-elect-renew-deadline (20s): a leader has to stop before the next one starts",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := load(t, append([]string{"-f", "r.yaml"}, tc.args...), nil, "")
			if err == nil || err.Error() != tc.want {
				t.Errorf("%s\ngot:  %v\nwant: %s", tc.reason, err, tc.want)
			}
			if diff := cmp.Diff(Config{}, got); diff != "" {
				t.Errorf("a mistake comes with settings: %s", diff)
			}
		})
	}
}

// TestValues holds what is said of a value that is wrong, which is the same wherever it was written.
func TestValues(t *testing.T) {
	t.Parallel()
	cases := map[string]string{
		"--leader-elect=maybe":                      `want true or false, have "maybe"`,
		"--rules-from-cluster=maybe":                `want true or false, have "maybe"`,
		"--leader-elect-lease-duration=15":          `want a duration of whole seconds above 0 such as 15s, have "15"`,
		"--leader-elect-lease-duration=1500ms":      `want a duration of whole seconds above 0 such as 15s, have "1500ms"`,
		"--leader-elect-lease-duration=0s":          `want a duration of whole seconds above 0 such as 15s, have "0s"`,
		"--leader-elect-lease-duration=1000000h":    `want a duration of whole seconds above 0 such as 15s, have "1000000h"`,
		"--leader-elect-renew-deadline=-1s":         `want a duration above 0 such as 2s, have "-1s"`,
		"--leader-elect-retry-period=":              `want a duration above 0 such as 2s, have ""`,
		"--leader-elect-resource-lock=endpoints":    `want leases, have "endpoints"`,
		"--leader-elect-resource-name=A":            `"A" cannot name an object: `,
		"--leader-elect-resource-name=":             `"" cannot name an object: `,
		"--leader-elect-resource-namespace=a.b":     `"a.b" cannot name a namespace: `,
		"--allow-sensitive=rbac,secret":             `"secret" is no sensitive kind; did you mean "secrets"?`,
		"--allow-sensitive=everything":              `"everything" is no sensitive kind; those are apiservices, certificates, crds, leases, rbac, rules, secrets, webhooks`,
		"--leader-elect-resource-namespace=a,b c\n": `cannot name a namespace: `,
	}
	for arg, want := range cases {
		flags := pflag.NewFlagSet("run", pflag.ContinueOnError)
		AddFlags(flags)
		if err := flags.Parse([]string{arg}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s\ngot:  %v\nwant: %s", arg, err, want)
		}
	}
}
