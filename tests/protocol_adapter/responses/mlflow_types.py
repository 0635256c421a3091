"""MLflow's types for its agent servers, which warn about themselves when they are imported."""

import warnings

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from mlflow.types.responses import (
        ResponsesAgentRequest,
        ResponsesAgentResponse,
        ResponsesAgentStreamEvent,
    )

__all__ = ["ResponsesAgentRequest", "ResponsesAgentResponse", "ResponsesAgentStreamEvent"]
