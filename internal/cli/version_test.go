package cli

import (
	"runtime/debug"
	"testing"
)

func TestBuildVersion(t *testing.T) {
	t.Parallel()
	commit := []debug.BuildSetting{{Key: "vcs", Value: "git"}, {Key: "vcs.revision", Value: "0123456789abcdef0123"}}
	cases := map[string]struct {
		reason string
		build  debug.BuildInfo
		want   string
	}{
		"go install":  {reason: "The version of the module.", build: debug.BuildInfo{Main: debug.Module{Version: "v1.2.3"}, Settings: commit}, want: "v1.2.3"},
		"a checkout":  {reason: "The commit says what it is.", build: debug.BuildInfo{Main: debug.Module{Version: "(devel)"}, Settings: commit}, want: "devel-0123456789ab"},
		"no checkout": {reason: "Nothing more is known.", build: debug.BuildInfo{Main: debug.Module{Version: "(devel)"}}, want: "(devel)"},
		"nothing":     {reason: "Not even that.", want: "unknown"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := buildVersion(&tc.build); got != tc.want {
				t.Errorf("%s\nwant %q, got %q", tc.reason, tc.want, got)
			}
		})
	}
}
