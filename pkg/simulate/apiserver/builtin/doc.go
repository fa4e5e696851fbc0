// Package builtin serves the built-in kinds of Kubernetes as its API server does, with the
// API server's own request handlers, registries and field managers over the types of
// k8s.io/api, for the world of a request's context.
//
//	request with a RequestInfo -> Kinds -> endpoint -> k8s.io/apiserver handlers -> registry.Store -> storage.Decorate
//
// What differs between kinds is a row of a table, and a few functions where that does
// not suffice. Types of a served version stand for the internal ones of a real server, so
// nothing is converted between versions.
//
// # Differences
//
// Known differences from kube-apiserver 1.37:
//
//   - Defaulting: none, but for the name label of Namespaces, status.allocatable of Nodes,
//     and stringData of Secrets. Objects are expected as stored.
//   - Validation: of metadata, names, immutable fields of the table, keys of ConfigMaps and
//     Secrets, Events, and what of a Pod may change. Nothing else is required or refused,
//     such as containers, selectors that match templates, or ranges of numbers.
//     Finalizers without a domain are refused for all kinds, where a few, such as Leases
//     and PodDisruptionBudgets, let them pass. status.loadBalancer is for any Service.
//   - Allocation: Services get no clusterIP, no ports of nodes.
//   - Admission: none but what New is given. So there are no finalizers that protect
//     volumes, no tokens in Pods, no priority.
//   - Versions: of a kind in several versions one is served, the newest that is stable;
//     autoscaling/v1 and older versions of resource.k8s.io are not. Kinds that only have
//     alpha and beta versions are served, which a real server has switched off.
//   - Events of v1 and of events.k8s.io/v1 are stored apart.
//   - Not served: Binding, ComponentStatus, the reviews of authentication and
//     authorization, APIService, CustomResourceDefinition; of subresources those other than
//     status and scale. Namespaces so stay terminating, unless their spec.finalizers are
//     stored empty.
//   - PersistentVolumes have no status.lastPhaseTransitionTime.
//   - Wording: values of immutable fields are shown as in JSON where a real server shows
//     its internal types; a Pod's refused change comes without the difference; an unknown
//     type of patch is worded by the handler, not by the router.
//   - Field selectors know what those of Pods, Nodes, Namespaces, Services, Secrets and
//     ReplicationControllers name, and of other kinds metadata.name and metadata.namespace
//     only. Nothing can be watched.
package builtin
