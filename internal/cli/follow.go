package cli

import (
	"context"
	"log/slog"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	clientdiscovery "k8s.io/client-go/discovery"

	"github.com/dyncontroller/dyncontroller/internal/discovery"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema/builtin"
)

// clusterSchemas is what run knows of the objects: what Kubernetes itself has, and what
// its cluster says, as long as it answers. It is for one goroutine.
type clusterSchemas struct {
	follower *discovery.Follower
	known    *schema.Catalog
	// learn is told what the cluster says whenever it is asked, nil for nobody. It said
	// last what is answered, nil for nothing yet, of the resources in asked.
	learn    func(said schema.Source, wanted []apischema.GroupVersionResource)
	answered schema.Source
	asked    []apischema.GroupVersionResource
	// log is nil until there are rules to run: of what is refused there is enough to
	// say.
	log *slog.Logger
	// trouble is why the cluster does not say all, nil while it does, and said what was
	// logged of it.
	trouble error
	said    string
	// heard says that the cluster has ever told something, and partly that it has told
	// something besides the trouble.
	heard, partly bool
}

func newClusterSchemas(target *cluster) *clusterSchemas {
	return &clusterSchemas{
		follower: discovery.Follow(clientdiscovery.ToDiscoveryInterfaceWithContext(target.discovery)),
		known:    offlineSchemas(),
	}
}

// offlineSchemas are those that need no cluster. A resource that is not among them may
// be served all the same.
func offlineSchemas() *schema.Catalog { return schema.NewCatalog(builtin.Source()).Growing() }

// Ask implements [source.Schemas]. Rules are compiled by what was known before where
// the cluster does not answer: it is the engine that waits for it.
func (s *clusterSchemas) Ask(ctx context.Context, wanted []apischema.GroupVersionResource) (known *schema.Catalog, news bool) {
	asking, cancel := context.WithTimeout(ctx, reachTimeout)
	defer cancel()
	said, news, err := s.follower.Ask(asking, wanted)
	if ctx.Err() != nil {
		return s.known, false // Nobody asks any more.
	}
	if said != nil {
		s.known = schema.NewCatalog(served(said)...).Growing()
		s.heard = true
		s.answered, s.asked = said, wanted
		if s.learn != nil { // With or without news: it may be the first time that one of these is asked about.
			s.learn(said, wanted)
		}
	}
	s.trouble, s.partly = err, said != nil
	s.report()
	return s.known, news
}

// teach has somebody learn what the cluster says from now on, and what it said last.
func (s *clusterSchemas) teach(learn func(said schema.Source, wanted []apischema.GroupVersionResource)) {
	s.learn = learn
	if s.answered != nil {
		learn(s.answered, s.asked)
	}
}

// logTo says where trouble is to be logged from now on, and with it what there is.
func (s *clusterSchemas) logTo(log *slog.Logger) {
	s.log = log
	s.report()
}

// report logs a trouble when it begins, changes and ends.
func (s *clusterSchemas) report() {
	switch {
	case s.log == nil:
	case s.trouble == nil && s.said != "":
		s.said = ""
		s.log.Info("the schemas of the cluster are known")
	case s.trouble != nil && s.said != s.trouble.Error():
		s.said = s.trouble.Error()
		s.warn()
	}
}

// warn says what rules are checked against in spite of a trouble.
func (s *clusterSchemas) warn() {
	switch {
	case s.partly:
		s.log.Warn("some schemas of the cluster are not known, rules are not checked against these", "err", s.trouble)
	case s.heard:
		s.log.Warn("the cluster does not say its schemas, rules are checked against those that it said before", "err", s.trouble)
	default:
		s.log.Warn("the schemas of the cluster are not known, rules are checked against those of Kubernetes alone", "err", s.trouble)
	}
}

// logFindings logs what is doubtful about rules that can be used, and what could not be
// checked of them.
func logFindings(log *slog.Logger, set *rules.Set) {
	for _, found := range set.Warnings() {
		where := []any{"file", found.File, "line", found.Line, "code", string(found.Code), "finding", found.Message, "hint", found.Hint}
		switch {
		case found.Severity == document.Warning:
			log.Warn("rules are doubtful", where...)
		case found.Code == document.CodeUntyped:
			log.Info("rules are not checked against a schema", where...)
		}
	}
}
