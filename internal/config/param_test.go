package config

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"

	"github.com/dyncontroller/dyncontroller/pkg/rules"
)

// TestParamWithoutFiles holds that a constant is not replaced where nobody would see it:
// a set object is changed where it is.
func TestParamWithoutFiles(t *testing.T) {
	t.Parallel()
	const want = "--param replaces constants of sets in files, and there is no --rules; a set in the cluster is changed where it is"
	cases := map[string]struct {
		reason string
		args   []string
		file   string
		fails  bool
	}{
		"only the cluster": {reason: "It would have no effect.", args: []string{"--rules-from-cluster", "--param", "a.b=1"}, fails: true},
		"in the settings":  {reason: "It does not matter where it is said.", args: []string{"--rules-from-cluster"}, file: "param: [a.b=1]\n", fails: true},
		"both":             {reason: "It is of the sets in files.", args: []string{"--rules-from-cluster", "-f", "r.yaml", "--param", "a.b=1"}},
		"only files":       {reason: "It is of these.", args: []string{"-f", "r.yaml", "--param", "a.b=1"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := load(t, tc.args, nil, tc.file)
			switch {
			case tc.fails && (err == nil || err.Error() != want):
				t.Errorf("%s\ngot:  %v\nwant: %s", tc.reason, err, want)
			case !tc.fails && err != nil:
				t.Errorf("%s\nerror: %v", tc.reason, err)
			case !tc.fails:
				param, _ := rules.ParseParam("a.b=1")
				if diff := cmp.Diff([]rules.Param{param}, got.Params); diff != "" {
					t.Errorf("%s\n-want +got:\n%s", tc.reason, diff)
				}
			}
		})
	}
}

// TestSensitiveHelp holds that the help names what rules may be allowed.
func TestSensitiveHelp(t *testing.T) {
	t.Parallel()
	flags := pflag.NewFlagSet("run", pflag.ContinueOnError)
	AddFlags(flags)
	const want = "what rules that name it may write, comma-separated: apiservices, certificates, crds, leases, rbac, rules, secrets, webhooks"
	if got := flags.Lookup("allow-sensitive").Usage; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
