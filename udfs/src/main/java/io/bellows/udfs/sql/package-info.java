/** The algorithms as functions of Spark SQL. The only package here that needs Spark. */
package io.bellows.udfs.sql;
