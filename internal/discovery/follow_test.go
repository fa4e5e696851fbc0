package discovery

import (
	"net/http"
	"slices"
	"testing"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"
)

// change has the server be another one from now on, and forgets what it was asked.
func (a *apiServer) change(to func(*apiServer)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	to(a)
	a.asked = nil
}

// requests are what the server was asked, in order and each once.
func (a *apiServer) requests() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Compact(slices.Sorted(slices.Values(a.asked)))
}

// TestFollow holds what is asked again, and what counts as news.
func TestFollow(t *testing.T) {
	all := []string{"/api", "/apis", "/openapi/v3"}
	with := func(more ...string) []string { return slices.Concat(all, more) }
	novelties := deployments.GroupVersion().WithResource("novelties")
	cases := map[string]struct {
		reason string
		before func(*apiServer)
		wanted []apischema.GroupVersionResource // at first pods and deployments
		change func(*apiServer)
		next   []apischema.GroupVersionResource
		news   bool
		asked  []string
		fails  bool
	}{
		"nothing": {
			reason: "The index says that nothing has changed.", asked: []string{"/openapi/v3"},
		},
		"another schema": {
			reason: "Its address is another one, and only it is fetched.",
			change: func(a *apiServer) { a.hashes = map[string]string{"apis/apps/v1": "2"} },
			news:   true, asked: with("/openapi/v3/apis/apps/v1"),
		},
		"the schema of something else": {
			reason: "What no rule names does not matter.",
			change: func(a *apiServer) { a.hashes = map[string]string{"apis/batch/v1": "2"} },
			asked:  []string{"/openapi/v3"},
		},
		"gone": {
			reason: "A resource that is no longer served nor described.",
			change: func(a *apiServer) { a.absent = "apps" },
			news:   true, asked: all,
		},
		"arrives": {
			reason: "A resource that was not there.",
			before: func(a *apiServer) { a.absent = "apps" },
			change: func(a *apiServer) { a.absent = "" },
			news:   true, asked: with("/openapi/v3/apis/apps/v1"),
		},
		"served later": {
			reason: "The index has it before it is served, so it is asked for until it is.",
			wanted: []apischema.GroupVersionResource{pods, novelties},
			change: func(a *apiServer) { a.novel = true },
			news:   true, asked: with("/openapi/v3/apis/apps/v1"),
		},
		"not served yet": {
			reason: "Asked again, and no news.",
			wanted: []apischema.GroupVersionResource{pods, novelties}, asked: all,
		},
		"of another group as well": {
			reason: "Rules name something more; it is fetched, and the rest is not.",
			wanted: []apischema.GroupVersionResource{pods},
			next:   []apischema.GroupVersionResource{pods, deployments},
			news:   true, asked: with("/openapi/v3/apis/apps/v1"),
		},
		"of the same group": {
			reason: "There is one description for both.",
			wanted: []apischema.GroupVersionResource{pods},
			next:   []apischema.GroupVersionResource{{Version: "v1", Resource: "nodes"}}, asked: []string{"/openapi/v3"},
		},
		"fails": {
			reason: "A description that cannot be had now is asked for again; what was had of it is old.",
			change: func(a *apiServer) {
				a.hashes = map[string]string{"apis/apps/v1": "2"}
				a.refuses = map[string]int{"/openapi/v3/apis/apps/v1": http.StatusServiceUnavailable}
			},
			news: true, asked: with("/openapi/v3/apis/apps/v1"), fails: true,
		},
		"recovers": {
			reason: "And is news then.",
			before: func(a *apiServer) {
				a.refuses = map[string]int{"/openapi/v3/apis/apps/v1": http.StatusServiceUnavailable}
			},
			change: func(a *apiServer) { a.refuses = nil },
			news:   true, asked: with("/openapi/v3/apis/apps/v1"),
		},
		"away": {
			reason: "A server that does not answer says nothing new.",
			change: func(a *apiServer) { a.refuses = map[string]int{"/openapi/v3": http.StatusServiceUnavailable} },
			asked:  []string{"/openapi/v3"}, fails: true,
		},
		"no rules any more": {
			reason: "Nothing is wanted, and nothing of it known.",
			next:   []apischema.GroupVersionResource{}, news: true, asked: []string{"/api", "/apis"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			server := &apiServer{}
			if tc.before != nil {
				tc.before(server)
			}
			wanted := tc.wanted
			if wanted == nil {
				wanted = []apischema.GroupVersionResource{pods, deployments}
			}
			follower := Follow(server.client(t))
			if _, news, err := follower.Ask(t.Context(), wanted); !news {
				t.Errorf("the first answer is news: %v", err)
			}
			if _, news, _ := follower.Ask(t.Context(), wanted); news {
				t.Error("the same is news")
			}
			server.change(func(a *apiServer) {
				if tc.change != nil {
					tc.change(a)
				}
			})
			if tc.next != nil {
				wanted = tc.next
			}
			said, news, err := follower.Ask(t.Context(), wanted)
			if news != tc.news || (err != nil) != tc.fails || !slices.Equal(server.requests(), tc.asked) {
				t.Errorf("%s\nwant news %t and %q, got %t, %v and %q", tc.reason, tc.news, tc.asked, news, err, server.requests())
			}
			if err == nil && said == nil {
				t.Error("there is no answer")
			}
			if _, again, _ := follower.Ask(t.Context(), wanted); again {
				t.Error("the same is news again")
			}
		})
	}
}

// TestFollowForgets holds that what was said of a group that changed is not what is
// said now.
func TestFollowForgets(t *testing.T) {
	server := &apiServer{}
	follower := Follow(server.client(t))
	wanted := []apischema.GroupVersionResource{deployments}
	before, _, err := follower.Ask(t.Context(), wanted)
	if err != nil {
		t.Fatal(err)
	}
	server.change(func(a *apiServer) { a.absent = "apps" })
	after, _, err := follower.Ask(t.Context(), wanted)
	if err != nil {
		t.Fatal(err)
	}
	if !before.Resource(deployments).Type.Known() || after.Resource(deployments) != nil {
		t.Error("what was said before changes, or is still said")
	}
}
