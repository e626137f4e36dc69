import Glibc
import Synchronization

/// How many descriptors this process may have open at once.
///
/// Programs that are started from here get the limit that this process was started with: many still call
/// `select`, which fails above 1,024.
package enum DescriptorLimit {
    /// The soft limit before it was raised; nil: it was not.
    private static let original = Mutex<UInt64?>(nil)

    /// The soft limit of programs that are started from here; nil: this process's own.
    static var ofChildren: UInt64? { original.withLock { $0 } }

    /// The limit now.
    ///
    /// The corresponding C function is `getrlimit(RLIMIT_NOFILE)`.
    package static func current() throws(HostError) -> Int {
        Int(clamping: try limits().rlim_cur)
    }

    /// Raises the soft limit to `most`, or to the hard limit where that is lower; never lowers it.
    ///
    /// The corresponding C function is `setrlimit(RLIMIT_NOFILE)`.
    package static func raise(to most: Int) throws(HostError) {
        var limits = try limits()
        let before = UInt64(limits.rlim_cur)
        let wanted = min(rlim_t(most), limits.rlim_max)
        guard wanted > limits.rlim_cur else { return }
        limits.rlim_cur = wanted
        guard unsafe setrlimit(resource, &limits) == 0 else { throw .last("setrlimit") }
        original.withLock { $0 = $0 ?? before }
    }

    private static var resource: __rlimit_resource_t { __rlimit_resource_t(RLIMIT_NOFILE.rawValue) }

    private static func limits() throws(HostError) -> rlimit {
        var limits = rlimit()
        guard unsafe getrlimit(resource, &limits) == 0 else { throw .last("getrlimit") }
        return limits
    }
}
