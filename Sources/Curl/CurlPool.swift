import CCurl

/// The pools of a loop, each with the connections that some requests may share.
///
/// Confined to the transfer thread.
struct CurlPools {
    /// Which requests may share a connection.
    struct Key: Hashable {
        /// The name of the guard, whose requests alone use its connections.
        let guardKey: String
        /// The server of requests that share one connection at the same time; nil: a connection carries one at a time.
        fileprivate(set) var origin: String?

        /// The pool of `errand`, whose answer is read piece by piece or as a whole.
        ///
        /// A streamed answer has a connection of its own: its reader makes the server wait by not reading, and everything
        /// else on that connection would wait with it.
        init(_ errand: CurlErrand, isStreamed: Bool) {
            guardKey = errand.addressGuard.key
            guard !isStreamed, case .request(let request) = errand,
                request.url.prefix(6).lowercased() == "https:"
            else {
                origin = nil
                return
            }
            origin = CurlURL(request.url).map { "\($0.host):\($0.port)" }
        }
    }

    /// How long a shared connection may be silent, while answers are due, before further requests get another one.
    let patience: Duration
    private var pools: [Key: CurlPool] = [:]
    /// The servers whose HTTP/2 failed, and until when one request at a time is sent to them.
    private var failed: [Key: ContinuousClock.Instant] = [:]

    /// How many pools may exist before the one is let go that was used least recently.
    private static let most = 32
    /// How many servers are remembered whose HTTP/2 failed.
    private static let mostFailed = 256
    /// How long a server whose HTTP/2 failed is remembered.
    private static let recovery = Duration.seconds(600)

    /// No pools yet.
    init(patience: Duration) { self.patience = patience }

    /// The pool for `key`.
    ///
    /// A new one where the connections of the old one have been silent for too long. Those under way keep the old one.
    mutating func pool(_ key: Key, at now: ContinuousClock.Instant) throws(CurlError) -> CurlPool {
        var key = key
        if !failed.isEmpty, let until = failed[key] {
            if until > now { key.origin = nil } else { failed[key] = nil }
        }
        if let pool = pools[key], !pool.isSilent(for: patience, at: now) { return pool }
        if pools[key] == nil, pools.count >= Self.most { removeOldest() }
        let pool = try CurlPool(isMultiplexed: key.origin != nil)
        pools[key] = pool
        return pool
    }

    private func key(of pool: CurlPool) -> Key? { pools.first { $0.value === pool }?.key }

    /// Applies how a request on the connections of `pool` ended.
    ///
    /// After an answer that did not come in time they get no further requests: one that carries a single request libcurl
    /// closes itself; a shared one it would keep, and each further request would wait as long.
    mutating func note(
        _ result: Result<CurlResponse, CurlError>, on pool: CurlPool, at now: ContinuousClock.Instant
    ) {
        guard pool.isMultiplexed, case .failure(let error) = result,
            let key = key(of: pool)
        else { return }
        switch error {
        case .timedOut(.answering, _): pools[key] = nil
        case .cut(let fault) where fault.isOfHTTP2:
            // HTTP/1.1 may work there; and of an early answer libcurl may have lost the head.
            if failed.count >= Self.mostFailed { failed = failed.filter { $0.value > now } }
            if failed.count < Self.mostFailed { failed[key] = now + Self.recovery }
        default: break
        }
    }

    /// Lets all go; transfers under way keep theirs.
    mutating func removeAll() { pools = [:] }

    private mutating func removeOldest() {
        // Its transfers under way keep it alive until they end.
        let oldest = pools.min { ($0.value.inUse, $0.value.usedAt) < ($1.value.inUse, $1.value.usedAt) }
        if let oldest { pools[oldest.key] = nil }
    }
}

/// Connections that are kept open for requests with one and the same key.
///
/// Confined to the transfer thread, so it needs no locks of its own. Every transfer holds the pool it
/// uses: it is released after the last of them.
@safe
final class CurlPool {
    /// Whether a connection of it may carry many requests at a time.
    let isMultiplexed: Bool
    /// How many transfers use it.
    private(set) var inUse = 0
    /// When a transfer began to use it last.
    private(set) var usedAt = ContinuousClock.now
    /// When a byte of any answer came last, or else the oldest of the requests under way began.
    private var lastByteAt = ContinuousClock.now
    private let share: UnsafeMutableRawPointer

    /// An empty pool.
    ///
    /// The corresponding C function is `curl_share_init`.
    init(isMultiplexed: Bool) throws(CurlError) {
        guard let share = unsafe curl_share_init() else { throw .library(.outOfMemory) }
        unsafe self.share = share
        self.isMultiplexed = isMultiplexed
        let code = unsafe ccurl_share_data(share, CURL_LOCK_DATA_CONNECT)
        guard code == CURLSHE_OK else {
            let text = unsafe String(cString: curl_share_strerror(code))
            throw .library(CurlError.Fault(code: code.rawValue, text: text))
        }
    }

    deinit {
        unsafe curl_share_cleanup(share)
    }

    /// Makes a transfer take its connection from here, and leave it here.
    func serve(_ easy: UnsafeMutableRawPointer) -> CURLcode {
        unsafe ccurl_set_pointer(easy, CURLOPT_SHARE, share)
    }

    /// A transfer begins.
    func enter() {
        usedAt = .now
        if inUse == 0 { lastByteAt = usedAt }
        inUse += 1
    }

    /// A transfer has ended.
    func leave() { inUse -= 1 }

    /// Some bytes of an answer came.
    func noteBytes() {
        if isMultiplexed { lastByteAt = .now }
    }

    /// Whether answers are due over shared connections, and none of them got a byte for so long.
    func isSilent(for patience: Duration, at now: ContinuousClock.Instant) -> Bool {
        isMultiplexed && inUse > 0 && lastByteAt + patience < now
    }
}

@available(*, unavailable) extension CurlPool: Sendable {}
