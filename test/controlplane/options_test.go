package controlplane

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestArguments(t *testing.T) {
	tests := map[string]struct {
		reason  string
		options Options
		want    []string
	}{
		"zero": {"The least is etcd and kube-apiserver.", Options{}, []string{"up", "--dir=/d"}},
		"all": {
			"Everything is passed on, in a fixed order.",
			Options{
				ControllerManager:     true,
				FeatureGates:          map[string]bool{"B": false, "A": true},
				APIServerArgs:         []string{"--v=1", "--x=a,b"},
				ControllerManagerArgs: []string{"--v=2"},
			},
			[]string{
				"up", "--dir=/d", "--controller-manager", "--feature-gates=A=true,B=false",
				"--apiserver-arg=--v=1", "--apiserver-arg=--x=a,b", "--controller-manager-arg=--v=2",
			},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, tc.options.arguments("/d")); diff != "" {
				t.Errorf("%s\n-want +got:\n%s", tc.reason, diff)
			}
		})
	}
}
