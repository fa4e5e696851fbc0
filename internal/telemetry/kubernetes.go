package telemetry

import (
	"fmt"
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"k8s.io/component-base/metrics/legacyregistry"
	_ "k8s.io/component-base/metrics/prometheus/clientgo/leaderelection" // counts elections
	_ "k8s.io/component-base/metrics/prometheus/restclient"              // counts requests
	_ "k8s.io/component-base/metrics/prometheus/workqueue"               // counts what is queued
)

// kubernetesPrefixes begin the names of the metrics of the Kubernetes client that are served.
// They have the names that they have in Kubernetes' own components, whose dashboards and
// alerts fit them.
func kubernetesPrefixes() []string { return []string{"workqueue_", "rest_client_", "leader_election_"} }

// kubernetes gathers what the Kubernetes client counts, of the whole process. The libraries
// register much more there: of an API server, and of the runtime once more.
func kubernetes() prometheus.Gatherer {
	return prometheus.GathererFunc(func() ([]*dto.MetricFamily, error) {
		all, err := legacyregistry.DefaultGatherer.Gather()
		if err != nil {
			return nil, fmt.Errorf("gathering the metrics of the Kubernetes client: %w", err)
		}
		return slices.DeleteFunc(all, func(family *dto.MetricFamily) bool {
			return !slices.ContainsFunc(kubernetesPrefixes(), func(prefix string) bool {
				return strings.HasPrefix(family.GetName(), prefix)
			})
		}), nil
	})
}
