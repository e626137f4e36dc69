import CCurl

/// One request or mail on its way: the easy handle, and what has come back so far.
///
/// Confined to the transfer thread. The handle's callbacks reach it by an unretained pointer, which is
/// sound because its owner removes the handle from the multi before releasing it.
@safe
final class CurlTransfer {
    let ticket: UInt64
    let easy: UnsafeMutableRawPointer
    let addressGuard: AddressGuard
    let pool: CurlPool
    /// The header lines of a request, or the recipients of a mail.
    var list: UnsafeMutablePointer<curl_slist>?
    /// What is sent of a mail, and how much of it was.
    private var message: [UInt8] = []
    private var sentBytes = 0
    private let isMail: Bool
    private let errorText: UnsafeMutablePointer<CChar>
    let timeouts: CurlTimeouts
    private let bodyLimit: Int

    var phase = CurlError.Phase.connecting
    /// When the lookup that is under way is given up; `nil` when none is.
    private var resolveDeadline: ContinuousClock.Instant?
    /// When the last byte of the answer came; only of a streamed one.
    private var lastByteAt = ContinuousClock.now
    /// Where the answer goes piece by piece; `nil` when it is kept until it is complete.
    private let flow: CurlFlow?
    private var status = 0
    private var isHeadComplete = false
    /// The first address the guard refused.
    var refused: SocketAddress?
    /// Whether the guard let any address pass.
    var hasOpenedSocket = false
    private var headers: [CurlHeader] = []
    private var headerBytes = 0
    private var body: [UInt8] = []
    private var bodyWasCut = false

    /// Whether it was begun a second time.
    private var isSecondTry = false

    /// The most bytes of header lines an answer may have.
    private static let headerLimit = 65_536

    /// A handle with everything set, not yet started.
    ///
    /// The corresponding C function is `curl_easy_init`.
    init(
        _ errand: CurlErrand, ticket: UInt64, flow: CurlFlow?, pool: CurlPool
    ) throws(CurlError) {
        if let flaw = errand.flaw { throw .malformed(flaw) }
        guard let easy = unsafe curl_easy_init() else { throw .library(.outOfMemory) }
        unsafe self.easy = easy
        self.ticket = ticket
        self.flow = flow
        self.pool = pool
        addressGuard = errand.addressGuard
        timeouts = errand.timeouts
        bodyLimit = errand.answerLimit
        if case .mail = errand { isMail = true } else { isMail = false }
        unsafe errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
        unsafe errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
        pool.enter()
        try setBounds()
        switch errand {
        case .request(let request): try setRequest(request)
        case .mail(let mail):
            message = mail.message
            try setMail(mail)
        }
        try setCallbacks()
    }

    deinit {
        unsafe curl_easy_cleanup(easy)
        unsafe curl_slist_free_all(list)
        unsafe errorText.deallocate()
        pool.leave()
    }

    /// Where libcurl writes what went wrong.
    var errorBuffer: UnsafeMutableRawPointer { unsafe UnsafeMutableRawPointer(errorText) }

    /// The handle as a number, to be found by.
    var key: UInt { unsafe UInt(bitPattern: easy) }

    /// The outcome, once libcurl is done with the handle, with `code`.
    func outcome(_ code: CURLcode) -> Result<CurlResponse, CurlError> {
        if isMail, let answer = mailAnswer(code) { return .success(answer) }
        // The rest of a body that is too long was refused by us: the answer itself is good.
        guard code == CURLE_OK || (code == CURLE_WRITE_ERROR && bodyWasCut) || isAnsweredEarly(code) else {
            if let refused, !hasOpenedSocket { return .failure(.refused(refused)) }
            return .failure(CurlError(code, text: text(of: code), phase: phase))
        }
        let response = CurlResponse(
            status: number(CURLINFO_RESPONSE_CODE), headers: headers, body: body, bodyWasCut: bodyWasCut,
            connectionWasReused: number(CURLINFO_NUM_CONNECTS) == 0,
            version: CurlResponse.Version(number(CURLINFO_HTTP_VERSION)))
        return .success(response)
    }

    /// Whether the server answered a request of HTTP/2 without reading its body, and closed the stream.
    ///
    /// It may (RFC 9113, section 8.1), as nginx does where it limits a rate. libcurl calls it an error of the stream, but
    /// one without words; a stream that was closed for an error has them. Of a success the whole body must be there.
    private func isAnsweredEarly(_ code: CURLcode) -> Bool {
        guard code == CURLE_HTTP2_STREAM, isHeadComplete, unsafe errorText.pointee == 0 else { return false }
        let length = headers.first(of: "content-length").flatMap { Int($0) } ?? 0
        return status >= 300 || body.count >= min(length, bodyLimit)
    }

    /// Prepares it to begin once more, over a connection of its own, where `code` says that the kept one it was given had
    /// been closed by then.
    ///
    /// libcurl does so by itself with a connection that carries one request at a time.
    func mayBeginAgain(_ code: CURLcode) -> Bool {
        guard code == CURLE_HTTP2, headerBytes == 0, !isSecondTry, number(CURLINFO_NUM_CONNECTS) == 0,
            unsafe ccurl_set_number(easy, CURLOPT_FRESH_CONNECT, 1) == CURLE_OK
        else { return false }
        isSecondTry = true
        phase = .connecting
        unsafe errorText.pointee = 0
        return true
    }

    /// What the mail server replied, where that is the outcome; `nil`: libcurl's code is.
    private func mailAnswer(_ code: CURLcode) -> CurlResponse? {
        guard code == CURLE_OK || (status >= 400 && code != CURLE_OPERATION_TIMEDOUT) else { return nil }
        return CurlResponse(
            status: status, headers: [], body: body, bodyWasCut: bodyWasCut, connectionWasReused: false,
            version: nil)
    }

    /// When a lookup or the next byte is given up; `nil` when neither is waited for.
    var deadline: ContinuousClock.Instant? {
        if let resolveDeadline { return resolveDeadline }
        guard let flow, phase == .answering, !flow.isPaused else { return nil }
        return silenceLimit.map { lastByteAt + $0 }
    }

    /// How long the next byte may take.
    private var silenceLimit: Duration? { isHeadComplete ? timeouts.silence : timeouts.head }

    /// The outcome when ``deadline`` has passed.
    func outcomeOfDeadline() -> Result<CurlResponse, CurlError> {
        let isLookup = resolveDeadline != nil
        let text =
            isLookup
            ? "Resolving timed out after \(timeouts.resolve)"
            : "No byte came for \(silenceLimit ?? timeouts.total)"
        return .failure(
            CurlError(CURLE_OPERATION_TIMEDOUT, text: text, phase: isLookup ? .resolving : .silent))
    }

    /// Continues after a pause.
    ///
    /// The corresponding C function is `curl_easy_pause`.
    func resume() -> CURLcode {
        lastByteAt = .now
        return unsafe curl_easy_pause(easy, CURLPAUSE_CONT)
    }

    private func text(of code: CURLcode) -> String {
        let own = unsafe String(cString: errorText)
        let text = own.isEmpty ? unsafe String(cString: curl_easy_strerror(code)) : own
        // A server's certificate may be quoted in it: one line, whatever it contains.
        return String(
            text.map { $0.isNewline || $0.asciiValue.map { $0 < 0x20 || $0 == 0x7f } == true ? " " : $0 })
    }

    private func number(_ info: CURLINFO) -> Int {
        var value = 0
        return unsafe ccurl_get_number(easy, info, &value) == CURLE_OK ? value : 0
    }
}

@available(*, unavailable) extension CurlTransfer: Sendable {}

// MARK: - What the callbacks report

extension CurlTransfer {
    /// A lookup begins.
    func lookupBegins() {
        phase = .resolving
        resolveDeadline = ContinuousClock.now + timeouts.resolve
    }

    /// The address is known, by a lookup or without one.
    func lookupEnded() {
        phase = .connecting
        resolveDeadline = nil
    }

    /// The connection stands, new or kept, and the guard had no objection.
    func requestBegins() {
        phase = .answering
        resolveDeadline = nil
        lastByteAt = .now
    }

    /// One line of an answer's head.
    ///
    /// False when the head is longer than any honest one.
    func receive(headerLine: UnsafeRawBufferPointer) -> Bool {
        if isMail { return unsafe receive(replyLine: headerLine) }
        headerBytes += headerLine.count
        guard headerBytes <= Self.headerLimit else { return false }
        lastByteAt = .now
        pool.noteBytes()
        // What follows the body changes nothing any more.
        guard !isHeadComplete else { return true }
        let line = unsafe String(decoding: headerLine, as: UTF8.self)
        if line.hasPrefix("HTTP/") {
            // A final answer follows an interim one (100 Continue): only the final one counts.
            headers.removeAll()
            status = line.split(separator: " ").dropFirst().first.flatMap { Int($0.prefix(3)) } ?? 0
        } else if line == "\r\n" || line == "\n" {
            guard status >= 200 else { return true }
            isHeadComplete = true
            flow?.receive(CurlHead(status: status, headers: headers))
        } else if let colon = line.firstIndex(of: ":") {
            let value = line[line.index(after: colon)...]
            headers.append(CurlHeader(String(line[..<colon]), String(value.trimmed)))
        }
        return true
    }

    /// One line of a mail server's replies, all of which are kept up to a limit.
    private func receive(replyLine: UnsafeRawBufferPointer) -> Bool {
        phase = .answering
        let code = unsafe Int(String(decoding: replyLine.prefix(3), as: UTF8.self)) ?? 0
        // The reply to the farewell, which follows whatever happened to the mail.
        if code == 221 { return true }
        status = code
        guard body.count + replyLine.count <= bodyLimit else { return false }
        unsafe body.append(contentsOf: replyLine)
        return true
    }

    /// Puts the next bytes of a mail into `room`; how many there were.
    func copyMessage(to room: UnsafeMutableRawBufferPointer) -> Int {
        let part = message[sentBytes...].prefix(room.count)
        unsafe room.copyBytes(from: part)
        sentBytes += part.count
        return part.count
    }

    /// Some bytes of the body.
    ///
    /// What libcurl is to do next.
    func receive(bodyBytes: UnsafeRawBufferPointer) -> BodyStep {
        pool.noteBytes()
        if let flow {
            lastByteAt = .now
            return unsafe flow.receive(bodyBytes) ? .more : .pause
        }
        let room = bodyLimit - body.count
        unsafe body.append(contentsOf: bodyBytes.prefix(room))
        bodyWasCut = bodyBytes.count > room
        return bodyWasCut ? .enough : .more
    }

    /// What follows some bytes of the body.
    enum BodyStep {
        case more
        /// These bytes were not taken and come again after ``CurlTransfer/resume()``.
        case pause
        case enough
    }
}

extension Substring {
    /// Without the white space at both ends.
    fileprivate var trimmed: Substring {
        let start = drop { $0.isWhitespace }
        guard let last = start.lastIndex(where: { !$0.isWhitespace }) else { return "" }
        return start[...last]
    }
}

extension CurlTransfer {
    /// What every request is kept in, whatever it asks for.
    func setBounds() throws(CurlError) {
        try set(CURLOPT_TIMEOUT_MS, timeouts.total.wholeMilliseconds)
        try set(CURLOPT_CONNECTTIMEOUT_MS, timeouts.connect.wholeMilliseconds)
        try set(CURLOPT_NOSIGNAL, 1)
        // Without it a handle that is given up waits for its lookup, and with it every other transfer.
        try set(CURLOPT_QUICK_EXIT, 1)
        try set(CURLOPT_PROTOCOLS_STR, isMail ? "smtp,smtps" : "http,https")
        // An empty proxy is the only way to ask for none, whatever the environment names.
        try set(CURLOPT_PROXY, "")
        try set(CURLOPT_FOLLOWLOCATION, 0)
        // Over TLS many requests share one connection where the server speaks HTTP/2: an answer that stalls there stalls
        // nobody else. Until that is known each opens its own: those that libcurl lets wait for it (CURLOPT_PIPEWAIT) stand
        // in one line with the requests to all other servers, whose handshake may never end.
        try set(
            CURLOPT_HTTP_VERSION,
            pool.isMultiplexed ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1)
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
        if let proxy = request.proxy {
            try set(CURLOPT_PROXY, proxy)
            // None goes past it, whatever the environment names: only the proxy's address was judged.
            try set(CURLOPT_NOPROXY, "")
        }
        if let authorities = request.authorities { try set(CURLOPT_CAINFO, authorities) }
        if let identity = request.identity {
            try set(CURLOPT_SSLCERT, identity.certificate)
            try set(CURLOPT_SSLKEY, identity.key ?? identity.certificate)
        }
        try append("Expect:")
        for header in request.headers {
            // A semicolon is libcurl's form of a header without a value.
            try append(header.value.isEmpty ? "\(header.name);" : "\(header.name): \(header.value)")
        }
        if request.body != nil, !request.headers.contains(where: { $0.name.lowercased() == "content-type" }) {
            try append("Content-Type:")
        }
        try check(unsafe ccurl_set_list(easy, CURLOPT_HTTPHEADER, list))
    }

    func append(_ line: String) throws(CurlError) {
        guard let longer = unsafe curl_slist_append(list, line) else { throw .library(.outOfMemory) }
        unsafe list = longer
    }

    func set(_ option: CURLoption, _ value: Int) throws(CurlError) {
        try check(unsafe ccurl_set_number(easy, option, value))
    }

    func set(_ option: CURLoption, _ value: String) throws(CurlError) {
        try check(unsafe ccurl_set_text(easy, option, value))
    }

    /// Throws the error that libcurl returns for an option.
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
