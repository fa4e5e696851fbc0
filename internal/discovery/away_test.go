package discovery

import (
	"testing"
	"time"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"
)

// answer is what a follower is told.
type answer struct {
	*Source
	news bool
	err  error
}

func (f *Follower) told(t *testing.T, wanted ...apischema.GroupVersionResource) answer {
	t.Helper()
	said, news, err := f.Ask(t.Context(), wanted)
	if said == nil {
		t.Fatalf("got no answer: %v", err)
	}
	return answer{said, news, err}
}

// TestFollowAway holds that what an API server served before it went away is not taken for
// gone, whether it is described or not, and that it is asked for until it is back.
func TestFollowAway(t *testing.T) {
	for of, gvr := range map[string]apischema.GroupVersionResource{"metrics.k8s.io": metrics, "apps": deployments} {
		t.Run(of, func(t *testing.T) {
			server := &apiServer{}
			follower := Follow(server.client(t))
			before := follower.told(t, pods, gvr)
			server.change(func(a *apiServer) { a.away = of })
			follower.settled = false // The index need not say that somebody is away.
			for range 2 {
				now := follower.told(t, pods, gvr)
				kept := now.Resource(gvr)
				if now.news || now.err != nil || kept == nil || kept.Kind != before.Resource(gvr).Kind || kept.Type.Known() != before.Resource(gvr).Type.Known() {
					t.Errorf("the resource is %+v, news %t, err %v", kept, now.news, now.err)
				}
				if now.Whole(of) || len(now.Resources()) != len(before.Resources()) {
					t.Errorf("the group is whole: %t; it has %v", now.Whole(of), now.Resources())
				}
			}
			server.change(func(a *apiServer) { a.away, a.absent = "", of })
			if now := follower.told(t, pods, gvr); of == "apps" && (now.Resource(gvr) != nil || !now.news) {
				t.Errorf("it came back without the resource, and that is %+v, news %t", now.Resource(gvr), now.news)
			}
		})
	}
}

// TestFollowAwayFirst holds that what is away at the start is found when it comes, though
// nobody describes it.
func TestFollowAwayFirst(t *testing.T) {
	server := &apiServer{away: "metrics.k8s.io"}
	follower := Follow(server.client(t))
	follower.told(t, pods, metrics)
	if now := follower.told(t, pods, metrics); now.news || now.Resource(metrics) != nil {
		t.Errorf("it is still away, news %t, %+v", now.news, now.Resource(metrics))
	}
	server.change(func(a *apiServer) { a.away = "" })
	if now := follower.told(t, pods, metrics); !now.news || now.Resource(metrics) == nil {
		t.Errorf("it is back, news %t, %+v", now.news, now.Resource(metrics))
	}
}

// TestFollowLags holds that a server that describes something before it serves it like
// that is asked once more.
func TestFollowLags(t *testing.T) {
	server := &apiServer{}
	follower := Follow(server.client(t))
	for range 2 {
		follower.told(t, deployments)
	}
	server.change(func(a *apiServer) { a.hashes = map[string]string{"apis/apps/v1": "2"} })
	if now := follower.told(t, deployments); !now.news || !now.Resource(deployments).Namespaced {
		t.Errorf("another schema is news: %t", now.news)
	}
	server.change(func(a *apiServer) { a.wide = true })
	if now := follower.told(t, deployments); !now.news || now.Resource(deployments).Namespaced {
		t.Errorf("and so is another scope: %t, namespaced %t", now.news, now.Resource(deployments).Namespaced)
	}
	follower.told(t, deployments)
	server.change(func(*apiServer) {})
	follower.told(t, deployments)
	if asked := server.requests(); len(asked) != 1 {
		t.Errorf("when nothing has changed it is asked %q", asked)
	}
}

// TestFollowHangs holds that a description that does not come keeps no other from coming.
func TestFollowHangs(t *testing.T) {
	server := &apiServer{hangs: map[string]bool{"/openapi/v3/api/v1": true}}
	follower := Follow(server.client(t))
	follower.patience = 2 * time.Second
	for _, first := range []bool{true, false} {
		now := follower.told(t, pods, deployments)
		there := now.documents[deployments.GroupVersion()] != nil
		if now.err == nil || now.news != first || now.documents[pods.GroupVersion()] != nil || !there {
			t.Errorf("news %t, err %v; deployments are described: %t", now.news, now.err, there)
		}
	}
}
