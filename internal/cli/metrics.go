package cli

import (
	"context"
	"encoding/json"
	"net/http"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/internal/doorkeeper"
	"github.com/dyncontroller/dyncontroller/internal/telemetry"
	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/rules/trace"
)

// serveMetrics begins to serve the metrics, and what is remembered of objects.
func (s *service) serveMetrics(ctx context.Context, address string) (*telemetry.Server, error) {
	listen := s.settings.Listen
	if !listen.Secure {
		return telemetry.Serve(ctx, address, metricsHandler(address, s.metrics.Handler(), s.operator.Recorded))
	}
	keeper, err := doorkeeper.New(s.cluster.config, s.options.Clock, s.log)
	if err != nil {
		return nil, err
	}
	certificates := telemetry.SelfSigned(s.options.Clock)
	if listen.CertDir != "" {
		certificates = telemetry.CertificatesIn(listen.CertDir, s.log)
	}
	return telemetry.ServeTLS(ctx, address, secureHandler(keeper.Protect, s.metrics.Handler(), s.operator.Recorded), certificates, s.log)
}

// metricsHandler serves the metrics at an address to anybody, and where only the same host or
// Pod can reach that, what is remembered of objects.
func metricsHandler(address string, metrics http.Handler, recorded func(engine.Key) trace.Memory) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", metrics)
	if telemetry.Loopback(address) {
		mux.Handle("GET /explain", onlyHere(explainHandler(recorded)))
	}
	return mux
}

// secureHandler serves both, each to who is let in there.
func secureHandler(protect func(path string, handler http.Handler) http.Handler, metrics http.Handler, recorded func(engine.Key) trace.Memory) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", protect("/metrics", metrics))
	mux.Handle("GET /explain", protect("/explain", explainHandler(recorded)))
	return mux
}

// onlyHere answers programs of the same host. A page in a browser there may be anybody's,
// whose name has been made to lead here: it asks for that name, and is refused.
func onlyHere(handler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !telemetry.Loopback(r.Host) {
			http.Error(w, "ask by the name localhost, or by the address, and with the port", http.StatusForbidden)
			return
		}
		handler.ServeHTTP(w, r)
	})
}

// explainHandler tells what is remembered of one object.
func explainHandler(recorded func(engine.Key) trace.Memory) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked := r.URL.Query()
		key := engine.Key{
			GVR:       schema.GroupVersionResource{Group: asked.Get("group"), Version: asked.Get("version"), Resource: asked.Get("resource")},
			Namespace: asked.Get("namespace"), Name: asked.Get("name"),
		}
		if key.GVR.Version == "" || key.GVR.Resource == "" || key.Name == "" {
			http.Error(w, "version, resource and name must be given, as in "+
				"/explain?group=apps&version=v1&resource=deployments&namespace=shop&name=web", http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		// Whoever asked may have gone; there is nobody else to tell.
		_ = json.NewEncoder(w).Encode(recorded(key))
	})
}
