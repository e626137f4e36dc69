import CCurl

extension CurlTransfer {
    /// What every request is kept in, whatever it asks for.
    func setBounds() throws(CurlError) {
        try set(CURLOPT_TIMEOUT_MS, timeouts.total.wholeMilliseconds)
        try set(CURLOPT_CONNECTTIMEOUT_MS, timeouts.connect.wholeMilliseconds)
        try set(CURLOPT_NOSIGNAL, 1)
        // Without it a handle that is given up waits for its lookup, and with it every other transfer.
        try set(CURLOPT_QUICK_EXIT, 1)
        try set(CURLOPT_PROTOCOLS_STR, "http,https")
        // An empty proxy is the only way to say "none, whatever the environment names".
        try set(CURLOPT_PROXY, "")
        try set(CURLOPT_FOLLOWLOCATION, 0)
        // A connection carries one request at a time, so a stalled answer stalls nobody else.
        try set(CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1)
        try check(unsafe pool.serve(easy))
    }

    /// What this request sends, and where to.
    func setRequest(_ request: CurlRequest) throws(CurlError) {
        try set(CURLOPT_URL, request.url)
        if let body = request.body {
            // The size first: the copy is made by it, and a zero byte does not end it.
            try check(unsafe ccurl_set_size(easy, CURLOPT_POSTFIELDSIZE_LARGE, body.count))
            let code = unsafe body.withUnsafeBytes { bytes in
                let start = unsafe UnsafeMutableRawPointer(mutating: bytes.baseAddress)
                return unsafe ccurl_set_pointer(easy, CURLOPT_COPYPOSTFIELDS, start)
            }
            try check(code)
        } else if request.method == "HEAD" {
            try set(CURLOPT_NOBODY, 1)
        }
        try set(CURLOPT_CUSTOMREQUEST, request.method)
        if let authorities = request.authorities { try set(CURLOPT_CAINFO, authorities) }
        try append("Expect:")
        for header in request.headers {
            // A semicolon is libcurl's form of a header without a value.
            try append(header.value.isEmpty ? "\(header.name);" : "\(header.name): \(header.value)")
        }
        if request.body != nil, !request.headers.contains(where: { $0.name.lowercased() == "content-type" }) {
            try append("Content-Type:")
        }
        try check(unsafe ccurl_set_list(easy, CURLOPT_HTTPHEADER, headerList))
    }

    private func append(_ line: String) throws(CurlError) {
        guard let longer = unsafe curl_slist_append(headerList, line) else { throw .library(.outOfMemory) }
        unsafe headerList = longer
    }

    private func set(_ option: CURLoption, _ value: Int) throws(CurlError) {
        try check(unsafe ccurl_set_number(easy, option, value))
    }

    private func set(_ option: CURLoption, _ value: String) throws(CurlError) {
        try check(unsafe ccurl_set_text(easy, option, value))
    }

    /// Throws what libcurl says of an option.
    func check(_ code: CURLcode) throws(CurlError) {
        guard code != CURLE_OK else { return }
        throw CurlError(code, text: unsafe String(cString: curl_easy_strerror(code)), phase: .connecting)
    }
}

extension Duration {
    /// Milliseconds for an option where zero would mean "no limit".
    fileprivate var wholeMilliseconds: Int {
        let (seconds, attoseconds) = components
        return max(1, Int(seconds) * 1000 + Int(attoseconds / 1_000_000_000_000_000))
    }
}
