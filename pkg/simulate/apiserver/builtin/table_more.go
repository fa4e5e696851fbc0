package builtin

import (
	"slices"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apiserverinternalv1alpha1 "k8s.io/api/apiserverinternal/v1alpha1"
	certificatesv1 "k8s.io/api/certificates/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	coordinationv1beta1 "k8s.io/api/coordination/v1beta1"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	lifecyclev1alpha1 "k8s.io/api/lifecycle/v1alpha1"
	resourcev1 "k8s.io/api/resource/v1"
	resourcev1alpha3 "k8s.io/api/resource/v1alpha3"
	schedulingv1 "k8s.io/api/scheduling/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	storagev1 "k8s.io/api/storage/v1"
	storagemigrationv1 "k8s.io/api/storagemigration/v1"
)

func storageKinds() []*kind {
	return slices.Concat(
		of(storagev1.SchemeGroupVersion,
			called("StorageClass", "storageclasses", clusterWide|answersDeleted).
				fixing("Parameters", "Provisioner", "ReclaimPolicy", "VolumeBindingMode"),
			called("CSIDriver", "csidrivers", clusterWide|guarded|answersDeleted).with(csiDriver()),
			called("CSINode", "csinodes", clusterWide|hasStatus|aloofStatus|guarded|answersDeleted),
			called("CSIStorageCapacity", "csistoragecapacities", guarded).fixing("NodeTopology", "StorageClassName"),
			called("VolumeAttachment", "volumeattachments", clusterWide|hasStatus|aloofStatus|guarded|answersDeleted).fixing("Spec"),
			called("VolumeAttributesClass", "volumeattributesclasses", clusterWide|answersDeleted),
		),
		of(storagemigrationv1.SchemeGroupVersion,
			called("StorageVersionMigration", "storageversionmigrations", clusterWide|hasStatus|aloofStatus|guarded).fixing("Spec")),
		of(resourcev1.SchemeGroupVersion,
			called("DeviceClass", "deviceclasses", clusterWide|answersDeleted).bumping("Spec"),
			called("DeviceTaintRule", "devicetaintrules", clusterWide|hasStatus|aloofStatus|guarded).bumping("Spec"),
			called("ResourceClaim", "resourceclaims", hasStatus|aloofStatus|answersDeleted).fixing("Spec"),
			called("ResourceClaimTemplate", "resourceclaimtemplates", answersDeleted).fixing("Spec"),
			called("ResourceSlice", "resourceslices", clusterWide|answersDeleted).bumping("Spec"),
		),
		of(resourcev1alpha3.SchemeGroupVersion,
			called("ResourcePoolStatusRequest", "resourcepoolstatusrequests", clusterWide|hasStatus|aloofStatus|guarded|answersDeleted)),
	)
}

func platform() []*kind {
	return slices.Concat(
		of(schedulingv1.SchemeGroupVersion,
			called("PriorityClass", "priorityclasses", clusterWide).bumping().fixing("PreemptionPolicy").with(priorityClass())),
		of(schedulingv1beta1.SchemeGroupVersion,
			called("PodGroup", "podgroups", hasStatus|aloofStatus|guarded),
			called("Workload", "workloads", guarded),
		),
		of(schedulingv1alpha3.SchemeGroupVersion, called("CompositePodGroup", "compositepodgroups", hasStatus|aloofStatus|guarded)),
		of(coordinationv1.SchemeGroupVersion, called("Lease", "leases", createdByUpdate|guarded)),
		of(coordinationv1beta1.SchemeGroupVersion,
			called("LeaseCandidate", "leasecandidates", createdByUpdate|guarded).fixing("Spec.LeaseName")),
		of(lifecyclev1alpha1.SchemeGroupVersion,
			called("Eviction", "evictions", hasStatus|aloofStatus|guarded).bumping("Spec"),
			called("EvictionRequest", "evictionrequests", hasStatus|aloofStatus|guarded).bumping("Spec"),
		),
		of(flowcontrolv1.SchemeGroupVersion,
			called("FlowSchema", "flowschemas", clusterWide|hasStatus|aloofStatus).bumping("Spec"),
			called("PriorityLevelConfiguration", "prioritylevelconfigurations", clusterWide|hasStatus|aloofStatus).bumping("Spec"),
		),
		of(certificatesv1.SchemeGroupVersion,
			called("CertificateSigningRequest", "certificatesigningrequests", clusterWide|hasStatus).
				named(anyName).with(signingRequest()),
			called("ClusterTrustBundle", "clustertrustbundles", clusterWide|guarded).
				named(anyName).fixing("Spec.SignerName"),
			called("PodCertificateRequest", "podcertificaterequests", hasStatus|aloofStatus|guarded).fixing("Spec"),
		),
		of(apiserverinternalv1alpha1.SchemeGroupVersion,
			called("StorageVersion", "storageversions", clusterWide|hasStatus|aloofStatus|guarded).named(anyName)),
		admissionKinds(),
	)
}

func admissionKinds() []*kind {
	return of(admissionregistrationv1.SchemeGroupVersion,
		called("MutatingAdmissionPolicy", "mutatingadmissionpolicies", clusterWide|guarded).bumping("Spec"),
		called("MutatingAdmissionPolicyBinding", "mutatingadmissionpolicybindings", clusterWide|guarded).bumping("Spec"),
		called("MutatingWebhookConfiguration", "mutatingwebhookconfigurations", clusterWide|guarded).bumping("Webhooks"),
		called("ValidatingAdmissionPolicy", "validatingadmissionpolicies", clusterWide|hasStatus|aloofStatus|guarded).bumping("Spec"),
		called("ValidatingAdmissionPolicyBinding", "validatingadmissionpolicybindings", clusterWide|guarded).bumping("Spec"),
		called("ValidatingWebhookConfiguration", "validatingwebhookconfigurations", clusterWide|guarded).bumping("Webhooks"),
	)
}
