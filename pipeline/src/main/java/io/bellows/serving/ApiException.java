package io.bellows.serving;

/** A request that is answered with an error of the protocol. */
final class ApiException extends RuntimeException {

    private static final long serialVersionUID = 1;

    private final int status;
    private final String param;

    private ApiException(int status, String param, String message) {
        super(message);
        this.status = status;
        this.param = param;
    }

    /** The client's mistake; {@code param} is the field, or null. */
    static ApiException badRequest(String param, String message) {
        return new ApiException(400, param, message);
    }

    static ApiException unauthorized() {
        return new ApiException(401, null, "Invalid API key: send it as \"Authorization: Bearer KEY\"");
    }

    static ApiException notFound(String message) {
        return new ApiException(404, "model", message);
    }

    /** Not the client's mistake. */
    static ApiException failed(String message) {
        return new ApiException(500, null, message);
    }

    /** It took too long; the status tells clients not to send the same again. */
    static ApiException late(String message) {
        return new ApiException(504, null, message);
    }

    int status() {
        return status;
    }

    String param() {
        return param;
    }

    /** The error's class as the protocol names it. */
    String type() {
        return switch (status) {
            case 401 -> "authentication_error";
            case 500, 504 -> "server_error";
            default -> "invalid_request_error";
        };
    }
}
