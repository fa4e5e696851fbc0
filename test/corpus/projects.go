package corpus

import (
	"slices"
	"strings"
)

// Project is a project that ships its CRDs in its Go module.
type Project struct {
	Name   string
	CRDs   int      // how many there are, so that none is lost silently
	Module string   // MODULE@VERSION
	Sum    string   // of the module, as go.sum writes it
	Globs  []string // of the files with CRDs, relative to the module
}

// Projects lists the pinned projects by name. Their modules take some 240 MB to download.
func Projects() []Project { return slices.Clone(projects) }

var projects = []Project{
	{
		Name: "argo-cd", CRDs: 3,
		Module: "github.com/argoproj/argo-cd/v3@v3.3.19",
		Sum:    "h1:jVmtyRAQo1zBMxIIx+MtI99q1FA53IMtF+yRc78XvoY=",
		Globs:  []string{"manifests/crds/*-crd.yaml"},
	},
	{
		Name: "argo-rollouts", CRDs: 5,
		Module: "github.com/argoproj/argo-rollouts@v1.8.3",
		Sum:    "h1:blbtQva4IK9r6gFh+dWkCrLnFdPOWiv9ubQYu36qeaA=",
		Globs:  []string{"manifests/crds/*-crd.yaml"},
	},
	{
		Name: "argo-workflows", CRDs: 8,
		Module: "github.com/argoproj/argo-workflows/v3@v3.7.0",
		Sum:    "h1:TDijZztm6dLruB7yZLH+Ps4OJKRwu0YSAJ4/NvceON0=",
		Globs:  []string{"manifests/base/crds/full/argoproj.io_*.yaml"},
	},
	{
		Name: "cert-manager", CRDs: 6,
		Module: "github.com/cert-manager/cert-manager@v1.21.2",
		Sum:    "h1:UWgoYM+KLNtRlqmoWOKjKBOBUPVHeepQ6/ac3ERJW68=",
		Globs:  []string{"deploy/crds/*.yaml"},
	},
	{
		Name: "cilium", CRDs: 22,
		Module: "github.com/cilium/cilium@v1.20.2",
		Sum:    "h1:dqiEGIcXc+gqCLYG/l7VCFJ8GHyb4HUrwbZOpkX5dL8=",
		Globs:  []string{"pkg/k8s/apis/cilium.io/client/crds/*/*.yaml"},
	},
	{
		Name: "cloudnative-pg", CRDs: 10,
		Module: "github.com/cloudnative-pg/cloudnative-pg@v1.27.0",
		Sum:    "h1:mp0zlYO4vKAJmQdArWORWKr1lmB4Hj8JeBQGX5RBnpg=",
		Globs:  []string{"config/crd/bases/*.yaml"},
	},
	{
		Name: "cluster-api", CRDs: 19,
		Module: "sigs.k8s.io/cluster-api@v1.14.2",
		Sum:    "h1:o3GFNaeNFAOEEMpDPfhCK+2CjmV6gtQ8yLEcUwCg7bA=",
		Globs: []string{
			"core/config/crd/bases/*.yaml",
			"bootstrap/kubeadm/config/crd/bases/*.yaml",
			"controlplane/kubeadm/config/crd/bases/*.yaml",
			"cmd/clusterctl/config/crd/bases/*.yaml",
		},
	},
	{
		Name: "crossplane", CRDs: 21,
		Module: "github.com/crossplane/crossplane/v2@v2.0.2",
		Sum:    "h1:OKA26pnm3/uFHN1zF9d2CGkkvod9H/6PrK4xmL81BgU=",
		Globs:  []string{"cluster/crds/*.yaml"},
	},
	{
		Name: "external-secrets", CRDs: 23,
		Module: "github.com/external-secrets/external-secrets@v1.3.2",
		Sum:    "h1:u2J8RjlHIeF0oZCqtl92adI/uZWUwOesJIDkfql6LqQ=",
		Globs: []string{
			"config/crds/bases/*.external-secrets.io_*.yaml",
			"config/crds/bases/external-secrets.io_*.yaml",
		},
	},
	{
		Name: "flux-kustomize", CRDs: 1,
		Module: "github.com/fluxcd/kustomize-controller@v1.6.0",
		Sum:    "h1:13S+wqCQ44njSg59DNgm1qMqVkK6+0eoZs+jv4+EWCs=",
		Globs:  []string{"config/crd/bases/*.yaml"},
	},
	{
		Name: "gateway-api", CRDs: 6,
		Module: "sigs.k8s.io/gateway-api@v1.4.1",
		Sum:    "h1:NPxFutNkKNa8UfLd2CMlEuhIPMQgDQ6DXNKG9sHbJU8=",
		Globs:  []string{"config/crd/standard/gateway.*.yaml"},
	},
	{
		Name: "gateway-api-experimental", CRDs: 12,
		Module: "sigs.k8s.io/gateway-api@v1.4.1",
		Sum:    "h1:NPxFutNkKNa8UfLd2CMlEuhIPMQgDQ6DXNKG9sHbJU8=",
		Globs:  []string{"config/crd/experimental/gateway.*.yaml"},
	},
	{
		Name: "grafana-operator", CRDs: 11,
		Module: "github.com/grafana/grafana-operator/v5@v5.19.4",
		Sum:    "h1:RJbitTafZsz11YxFIANxc0I+d/eTyj2nbHN9aK317oo=",
		Globs:  []string{"config/crd/bases/*.yaml"},
	},
	{
		Name: "istio", CRDs: 15,
		Module: "istio.io/api@v1.31.1",
		Sum:    "h1:5Yb5ihcz4YQsCkciusK7DnFpBMwRB6EFWeUKH1Atuyk=",
		Globs:  []string{"kubernetes/customresourcedefinitions.gen.yaml"},
	},
	{
		Name: "keda", CRDs: 6,
		Module: "github.com/kedacore/keda/v2@v2.21.0",
		Sum:    "h1:R6z2HZvstK4RLUMxroNACzBj74xGxt3kG59b5Xc+Xps=",
		Globs:  []string{"config/crd/bases/*.yaml"},
	},
	{
		Name: "knative-serving", CRDs: 7,
		Module: "knative.dev/serving@v0.51.0",
		Sum:    "h1:yN2Q7eYqJgoPfZkATjoBZyGbZ2P1Qhns9HIMU4mF+to=",
		Globs:  []string{"config/core/300-resources/*.yaml"},
	},
	{
		Name: "metallb", CRDs: 8,
		Module: "go.universe.tf/metallb@v0.15.2",
		Sum:    "h1:r7KDgJtk3KZe3qb36zRVrVCYHxLR03nPGT+qFXOomJM=",
		Globs:  []string{"config/crd/bases/*.yaml"},
	},
	{
		Name: "opentelemetry-operator", CRDs: 4,
		Module: "github.com/open-telemetry/opentelemetry-operator@v0.136.0",
		Sum:    "h1:izyLrje0aYyTJcakQExLYb3lZ6GqiTaZYcQOlyA/rKs=",
		Globs:  []string{"config/crd/bases/*.yaml"},
	},
	{
		Name: "prometheus-operator", CRDs: 10,
		Module: "github.com/prometheus-operator/prometheus-operator@v0.85.0",
		Sum:    "h1:M5xLCLEoaW2IJfnuCwFzzpL+jSVQu3KGT84Pye+fW8s=",
		Globs:  []string{"example/prometheus-operator-crd/*.yaml"},
	},
	{
		Name: "rook", CRDs: 19,
		Module: "github.com/rook/rook@v1.18.0",
		Sum:    "h1:vkI3HeSoC1h595WHzC/4NuFjB/x6Westw8iEozfrbVE=",
		Globs:  []string{"deploy/examples/crds.yaml"},
	},
	{
		Name: "tekton-pipelines", CRDs: 8,
		Module: "github.com/tektoncd/pipeline@v1.9.0",
		Sum:    "h1:f/5Vwq1bF4eQQk3hiE7Y5fMvq1nJRTxqqhq5E9YZBeQ=",
		Globs:  []string{"config/300-crds/*.yaml"},
	},
	{
		Name: "tidb-operator", CRDs: 10,
		Module: "github.com/pingcap/tidb-operator@v1.6.5",
		Sum:    "h1:XvLdD+0fUoL5cgYfTIrnZNGk2b/2jICd1pORF4X6MUQ=",
		Globs:  []string{"manifests/crd/v1/*.yaml"},
	},
	{
		Name: "velero", CRDs: 13,
		Module: "github.com/vmware-tanzu/velero@v1.18.3",
		Sum:    "h1:9uwN5yxTWQl9PsF5ljX4xiG+7VIq3I9mxOQ0DyyZ31A=",
		Globs:  []string{"config/crd/v1/bases/*.yaml", "config/crd/v2alpha1/bases/*.yaml"},
	},
}

// Version is the version of the module.
func (p Project) Version() string {
	_, version, _ := strings.Cut(p.Module, "@")
	return version
}
