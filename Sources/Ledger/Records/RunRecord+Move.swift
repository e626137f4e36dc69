extension RunRecord {
    /// Takes a step as the ledger will, its guard left aside.
    package mutating func take(_ move: RunMove) {
        state = move.to
        reason = move.reason
        notBefore = move.notBefore
        attempt = move.nextAttempt ?? attempt
        token = move.nextToken ?? token
        startedAt = move.startedAt ?? startedAt
        endedAt = move.endedAt ?? endedAt
        exitCode = move.exitCode ?? exitCode
        signal = move.signal ?? signal
        queueDelay = move.queueDelay ?? queueDelay
        outputBytes = move.outputBytes ?? outputBytes
        cpu = move.cpu ?? cpu
        maxRssKb = move.maxRssKb ?? maxRssKb
        survivors = move.survivors ?? survivors
        process = move.process ?? process
    }
}
