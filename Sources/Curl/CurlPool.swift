import CCurl

/// Connections that are kept open for requests with one and the same guard key.
///
/// Confined to the transfer thread, so it needs no locks of its own. Every transfer holds the pool it
/// uses: it is released after the last of them.
@safe
final class CurlPool {
    private let share: UnsafeMutableRawPointer

    /// An empty pool.
    ///
    /// The corresponding C function is `curl_share_init`.
    init() throws(CurlError) {
        guard let share = unsafe curl_share_init() else { throw .library(.outOfMemory) }
        unsafe self.share = share
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
}

@available(*, unavailable) extension CurlPool: Sendable {}

extension CurlError.Fault {
    /// A handle could not be made.
    ///
    /// The corresponding C value is `CURLE_OUT_OF_MEMORY`.
    static var outOfMemory: Self { Self(code: CURLE_OUT_OF_MEMORY.rawValue, text: "Out of memory") }
}
